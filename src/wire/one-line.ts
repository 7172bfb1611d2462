/** Text in one line: runs of control characters and line breaks become a space. */
export function withoutBreaks(text: string): string {
  return text.replace(/[\p{Cc}\u2028\u2029]+/gu, " ");
}

/**
 * A name in one line, whatever is stored: no control characters, line breaks or bidirectional
 * controls, and single spaces.
 */
export function inOneLine(name: string): string {
  return withoutBreaks(name)
    .replace(/\p{Bidi_Control}+/gu, "")
    .replace(/\s+/gu, " ")
    .trim();
}
