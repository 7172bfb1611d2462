/** Files that hold no sound, by bytes at their beginning. */
const MARKS: readonly (readonly [mark: string, at: number, name: string])[] = [
  ["%PDF-", 0, "a PDF document"],
  ["\x89PNG\r\n", 0, "a PNG picture"],
  ["\xff\xd8\xff\xe0", 0, "a JPEG picture"],
  ["\xff\xd8\xff\xe1", 0, "a JPEG picture"],
  ["\xff\xd8\xff\xdb", 0, "a JPEG picture"],
  ["GIF87a", 0, "a GIF picture"],
  ["GIF89a", 0, "a GIF picture"],
  ["WEBPVP8", 8, "a WebP picture"],
  ["PK\x03\x04", 0, "a ZIP archive or an office document"],
  ["\x1f\x8b\x08", 0, "a gzip archive"],
  ["7z\xbc\xaf\x27\x1c", 0, "a 7-Zip archive"],
  ["Rar!\x1a\x07", 0, "a RAR archive"],
  ["\xfd7zXZ\0", 0, "an XZ archive"],
  ["\x7fELF", 0, "a program"],
  ["SQLite format 3\0", 0, "a database"],
];
const HTML = /^\s*<(!doctype html|html[\s>])/i;
/** Bytes that tell each of them. */
const MARK_BYTES = 64;

/** What a file is that holds no sound, with its article; undefined for all others. */
export function otherFile(head: Uint8Array): string | undefined {
  const text = String.fromCharCode(...head.subarray(0, MARK_BYTES));
  if (HTML.test(text)) return "an HTML page";
  return MARKS.find(([mark, at]) => text.startsWith(mark, at))?.[2];
}
