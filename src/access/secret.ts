import { hash, randomBytes } from "node:crypto";

const BASE62 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

/** `length` characters drawn evenly from `alphabet` by the system's random source. */
export function randomText(length: number, alphabet = BASE62): string {
  // Bytes beyond the last whole multiple are thrown away, or early letters would be likelier.
  const limit = 256 - (256 % alphabet.length);
  let text = "";
  while (text.length < length) {
    for (const byte of randomBytes(length)) {
      if (byte < limit && text.length < length) text += alphabet.charAt(byte % alphabet.length);
    }
  }
  return text;
}

/** `value` in base 62, left-padded with zeros to `width`. */
export function toBase62(value: number, width: number): string {
  let text = "";
  for (let rest = value; text.length < width; rest = Math.floor(rest / 62)) {
    text = BASE62.charAt(rest % 62) + text;
  }
  return text;
}

/** How a secret of at least 128 random bits is kept at rest. */
export function secretHash(secret: string): Buffer {
  return hash("sha256", secret, "buffer");
}
