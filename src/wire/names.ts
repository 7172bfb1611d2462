import { type StringOptions, Type } from "@sinclair/typebox";
import { inOneLine } from "./one-line.ts";

/**
 * The characters of a name: no control characters, line or paragraph separators, or bidirectional
 * controls (Unicode's property Bidi_Control). They are spelt out, so that the pattern reads the same
 * in every language that the OpenAPI document is used from.
 */
export const NAME_PATTERN =
  "^[^\\u0000-\\u001f\\u007f-\\u009f\\u061c\\u200e\\u200f\\u2028-\\u202e\\u2066-\\u2069]*$";

/** Marks a schema whose value is trimmed and put into Unicode NFC before it is checked. */
export const NAME_KEYWORD = "x-name";

/** A name or title in requests, of at most `maxLength` characters. */
export function nameSchema(options: StringOptions & { maxLength: number }) {
  return Type.String({ ...options, pattern: NAME_PATTERN, [NAME_KEYWORD]: true });
}

/** UTF-16 units that a character of a name may have before it is put into NFC: a letter and three marks. */
const LONGEST_CHARACTER = 4;

/**
 * A name as it is kept: trimmed, Unicode NFC. A text that cannot become a name of at most
 * `maxLength` characters comes back as it is: sorting its marks takes the square of their number.
 */
export function normalName(text: string, maxLength: number): string {
  return text.length > maxLength * LONGEST_CHARACTER ? text : text.normalize("NFC").trim();
}

/** What a stranger's program calls something, as a name of at most `maxLength` UTF-16 units. */
export function cutToName(text: string, maxLength: number): string {
  const oneLine = inOneLine(text.slice(0, maxLength * LONGEST_CHARACTER));
  return normalName(oneLine, maxLength).slice(0, maxLength);
}
