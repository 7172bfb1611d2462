/** The size of an element that goes on until what follows cannot be part of it. */
export const UNKNOWN_SIZE = -1;

/**
 * A number of variable length without its mark; `UNKNOWN_SIZE` when all its bits are set. Undefined
 * when it is cut off or of no valid length.
 */
export function vintAt(bytes: Uint8Array, at: number): { value: number; end: number } | undefined {
  const first = bytes[at];
  if (first === undefined || first === 0) return undefined;
  const width = Math.clz32(first) - 23;
  if (at + width > bytes.byteLength) return undefined;
  let value = first & (0xff >> width);
  let isUnknown = value === 0xff >> width;
  for (let index = 1; index < width; index += 1) {
    const next = bytes[at + index] ?? 0;
    isUnknown &&= next === 0xff;
    value = value * 256 + next;
  }
  return { value: isUnknown ? UNKNOWN_SIZE : value, end: at + width };
}

/** Elements one after the other, by their ids, until one is none. */
export function childrenOf(bytes: Uint8Array): [number, Uint8Array][] {
  const children: [number, Uint8Array][] = [];
  for (let at = 0; at < bytes.byteLength; ) {
    const width = Math.clz32(bytes[at] ?? 0) - 23;
    if (width > 4) break;
    let id = 0;
    for (let index = 0; index < width; index += 1) id = id * 256 + (bytes[at + index] ?? 0);
    const size = vintAt(bytes, at + width);
    if (size === undefined || size.value === UNKNOWN_SIZE) break;
    at = size.end + size.value;
    children.push([id, bytes.subarray(size.end, at)]);
  }
  return children;
}

export function unsigned(bytes: Uint8Array): number {
  return bytes.subarray(0, 6).reduce((value, byte) => value * 256 + byte, 0);
}
