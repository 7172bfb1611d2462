import { crc32 } from "node:zlib";
import { randomText, toBase62 } from "./secret.ts";

const PREFIX = "vk_dev_";
const RANDOM_LENGTH = 32;
const CHECKSUM_LENGTH = 6;
const FORM = /^vk_dev_[0-9A-Za-z]{38}$/;

function checksum(random: string): string {
  return toBase62(crc32(PREFIX + random), CHECKSUM_LENGTH);
}

/**
 * A new device API key: `vk_dev_`, 32 random base-62 characters (190 bit), and
 * the CRC-32 of both in base 62, so that a mistyped key and a leaked one are
 * recognised without asking the database.
 */
export function newDeviceKey(): string {
  const random = randomText(RANDOM_LENGTH);
  return PREFIX + random + checksum(random);
}

/** True when `text` has the form and checksum of a device key; says nothing of its validity. */
export function isDeviceKey(text: string): boolean {
  if (!FORM.test(text)) return false;
  const random = text.slice(PREFIX.length, PREFIX.length + RANDOM_LENGTH);
  return text.endsWith(checksum(random));
}
