const PARENTS = ["moov", "trak", "mdia", "minf", "dinf"];

/**
 * An MP4 file, whose index is at its end, changed so that its sound lies in another file, as
 * QuickTime's aliases say it.
 */
export function withExternalSound(file: Buffer, path: string): Buffer {
  const boxes: number[] = [];
  for (const type of [...PARENTS, "dref"]) {
    boxes.push(file.indexOf(type, (boxes.at(-1) ?? 0) + 4, "latin1") - 4);
  }
  const dref = boxes.at(-1) ?? 0;
  const [from, to] = [dref + 16, dref + file.readUInt32BE(dref)];
  const entry = aliasTo(path);
  const changed = Buffer.concat([file.subarray(0, from), entry, file.subarray(to)]);
  const more = entry.length - (to - from);
  for (const box of boxes) changed.writeUInt32BE(file.readUInt32BE(box) + more, box);
  return changed;
}

/** A data reference of the kind `alis`, with an absolute path. */
function aliasTo(path: string): Buffer {
  const name = Buffer.from(path.length % 2 === 0 ? path : `/${path}`);
  // Volume, times, file name, levels: not looked at where there is a path.
  const fixed = Buffer.alloc(10 + 1 + 27 + 12 + 1 + 63 + 16 + 4 + 16);
  const record = Buffer.from([0, 2, name.length >> 8, name.length & 0xff]);
  const end = Buffer.from([0xff, 0xff, 0, 0]);
  const content = Buffer.concat([Buffer.from("alis"), Buffer.alloc(4), fixed, record, name, end]);
  const size = Buffer.alloc(4);
  size.writeUInt32BE(4 + content.length);
  return Buffer.concat([size, content]);
}
