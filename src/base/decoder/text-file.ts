const HEAD_BYTES = 1_024;
const LEAST_SHARE = 0.95;

/** Whether a file's beginning is plain text, which no decoder need look at. */
export function isText(bytes: Uint8Array): boolean {
  const head = bytes.subarray(0, HEAD_BYTES);
  const letters = head.filter((byte) => (byte >= 32 && byte < 127) || (byte >= 9 && byte <= 13));
  return letters.length >= LEAST_SHARE * head.length;
}
