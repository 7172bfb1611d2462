import { Type } from "@sinclair/typebox";
import { isStorable } from "../../rest/storable-text.ts";

const ASCII = /^[\u0021-\u007e]*$/;
const LONGEST = 320;

/** A new address of mail in requests: printable ASCII. */
export const newAddressSchema = Type.String({
  maxLength: LONGEST,
  pattern: "^[\\u0021-\\u003f\\u0041-\\u007e]+@[\\u0021-\\u003f\\u0041-\\u007e]+$",
  description: "Printable ASCII; kept and compared in lower case",
  examples: ["anna@example.org"],
});

/** True for a text that may become the address of an account. */
export function isNewAddress(text: string): boolean {
  return text.length <= LONGEST && ASCII.test(text) && /^[^@]+@[^@]+$/.test(text);
}

/**
 * The form in which addresses are stored and compared: ASCII in lower case, everything else byte by
 * byte as it is. No other folding: in Unicode several letters have the same lower case, so that one
 * person's address could be read as another's. A text that no account can have becomes "".
 */
export function comparableAddress(text: string): string {
  if (text.length > LONGEST || !isStorable(text)) return "";
  return ASCII.test(text) ? text.toLowerCase() : text;
}
