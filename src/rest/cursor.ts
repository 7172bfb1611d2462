import { createHmac, timingSafeEqual } from "node:crypto";
import { AppError } from "../base/errors.ts";

const MAC_BYTES = 16;
const MAX_CURSOR = 1_024;

function mac(key: Uint8Array, list: string, position: Buffer): Buffer {
  return createHmac("sha256", key)
    .update(`${list}\u0000`)
    .update(position)
    .digest()
    .subarray(0, MAC_BYTES);
}

/**
 * The place in a list after which the next page begins: the sort keys of the
 * last item shown. Opaque and signed, so that nobody builds one.
 *
 * @param list names the list; a cursor of one list is refused by another
 */
export function encodeCursor(key: Uint8Array, list: string, position: readonly string[]): string {
  const bytes = Buffer.from(JSON.stringify(position));
  return Buffer.concat([mac(key, list, bytes), bytes]).toString("base64url");
}

/** The sort keys again; rejects with `invalid_parameter` what this service did not make. */
export function decodeCursor(key: Uint8Array, list: string, cursor: string): string[] {
  const bytes = Buffer.from(cursor.slice(0, MAX_CURSOR), "base64url");
  const position = bytes.subarray(MAC_BYTES);
  const given = bytes.subarray(0, MAC_BYTES);
  if (
    cursor.length > MAX_CURSOR ||
    given.length < MAC_BYTES ||
    !timingSafeEqual(given, mac(key, list, position))
  ) {
    throw new AppError(
      "invalid_parameter",
      "`cursor` is not one that this list gave out. Start again without it.",
    );
  }
  return JSON.parse(position.toString("utf8")) as string[];
}
