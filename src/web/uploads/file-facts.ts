/** What a browser tells of a file without reading it. */
export interface FileFacts {
  readonly name: string;
  /** Bytes. */
  readonly size: number;
  /** Unix milliseconds. */
  readonly lastModified: number;
}

const MOST_TITLE = 200;

/** The same for the same file, chosen again: a browser keeps no way back to it over a reload. */
export function fingerprintOf({ name, size, lastModified }: FileFacts): string {
  return JSON.stringify([name, size, lastModified]);
}

/** The title of a file's session: its name without what says its kind. */
export function titleOf(name: string): string {
  const oneLine = name
    .replace(/[\p{Cc}\u2028\u2029\p{Bidi_Control}]+/gu, " ")
    .replace(/\s+/gu, " ")
    .trim()
    .normalize("NFC");
  return oneLine
    .replace(/(?<=.)\.[^.\s]{1,8}$/u, "")
    .slice(0, MOST_TITLE)
    .trim();
}

const UNITS = ["kB", "MB", "GB", "TB"] as const;

/** `840 bytes`, `1.4 MB`, `12 MB`. */
export function sizeText(bytes: number): string {
  if (bytes < 1_000) return bytes === 1 ? "1 byte" : `${bytes} bytes`;
  let [value, place] = [bytes / 1_000, 0];
  while (value >= 999.5 && place < UNITS.length - 1) [value, place] = [value / 1_000, place + 1];
  return `${value < 9.95 ? value.toFixed(1) : Math.round(value)} ${UNITS[place]}`;
}
