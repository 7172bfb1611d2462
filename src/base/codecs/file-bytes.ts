/** Bytes of a file, in memory or on a disk. */
export interface FileBytes {
  /** Bytes in all. */
  readonly size: number;
  /** The bytes from `at` on; fewer than `length` at the end of the file. */
  read(at: number, length: number): Buffer;
}

export function bytesInMemory(bytes: Uint8Array): FileBytes {
  const data = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  return { size: data.length, read: (at, length) => data.subarray(at, at + length) };
}

/** What lies behind the first `from` bytes of a file, as a file of its own. */
export function bytesBehind(file: FileBytes, from: number): FileBytes {
  return { size: file.size - from, read: (at, length) => file.read(from + at, length) };
}

/** Reads parts of `length` bytes ahead, so that many small parts in a row cost few reads. */
export function readAhead(file: FileBytes, length: number): FileBytes {
  let from = 0;
  let kept: Buffer = Buffer.alloc(0);
  return {
    size: file.size,
    read: (at, wanted) => {
      if (wanted >= length) return file.read(at, wanted);
      if (at < from || at + wanted > from + kept.length) {
        from = at;
        kept = file.read(at, length);
      }
      return kept.subarray(at - from, at - from + wanted);
    },
  };
}

/**
 * Where the first of some marks of equal lengths stands at or behind `from`; undefined when none
 * does. Of a file on a disk `window` bytes are held at a time.
 */
export function findMark(
  file: FileBytes,
  marks: readonly Buffer[],
  from: number,
  window: number,
): number | undefined {
  const overlap = (marks[0]?.length ?? 1) - 1;
  for (let at = from; at + overlap < file.size; at += window - overlap) {
    const part = file.read(at, window);
    const places = marks.map((mark) => part.indexOf(mark)).filter((place) => place >= 0);
    if (places.length > 0) return at + Math.min(...places);
  }
  return undefined;
}
