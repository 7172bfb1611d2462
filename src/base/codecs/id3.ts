/** Mark, version, flags and length. */
const HEAD_BYTES = 10;

/** Position after the ID3v2 tags that a file begins with; beyond its end when one is cut off. */
export function afterId3Tags(bytes: Uint8Array): number {
  let at = 0;
  while (at + HEAD_BYTES <= bytes.byteLength && isTag(bytes, at)) {
    const [a = 0, b = 0, c = 0, d = 0] = bytes.subarray(at + 6, at + HEAD_BYTES);
    at += HEAD_BYTES + (((a & 0x7f) << 21) | ((b & 0x7f) << 14) | ((c & 0x7f) << 7) | (d & 0x7f));
  }
  return at;
}

function isTag(bytes: Uint8Array, at: number): boolean {
  return Buffer.from(bytes.subarray(at, at + 3)).toString("latin1") === "ID3";
}
