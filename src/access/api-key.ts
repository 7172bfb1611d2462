import { crc32 } from "node:zlib";
import { randomText, toBase62 } from "./secret.ts";

const RANDOM_LENGTH = 32;
const CHECKSUM_LENGTH = 6;
const TAIL = /^[0-9A-Za-z]{38}$/;
const SHOWN_LENGTH = 6;

/** What an API key begins with: a device's, or a service's. */
type KeyPrefix = "vk_dev_" | "vk_svc_";

function checksum(prefix: KeyPrefix, random: string): string {
  return toBase62(crc32(prefix + random), CHECKSUM_LENGTH);
}

/**
 * A new API key: the prefix, 32 random base-62 characters (190 bit), and the
 * CRC-32 of both in base 62, so that a mistyped key and a leaked one are
 * recognised without asking the database.
 */
export function newApiKey(prefix: KeyPrefix): string {
  const random = randomText(RANDOM_LENGTH);
  return prefix + random + checksum(prefix, random);
}

/** True when `text` has the form and checksum of such a key; says nothing of its validity. */
export function isApiKey(prefix: KeyPrefix, text: string): boolean {
  if (!text.startsWith(prefix)) return false;
  const tail = text.slice(prefix.length);
  if (!TAIL.test(tail)) return false;
  return tail.endsWith(checksum(prefix, tail.slice(0, RANDOM_LENGTH)));
}

/** As much of a key as may be kept, so that people recognise it: 154 of its 190 bits stay secret. */
export function shownPart(key: string): string {
  return key.slice(0, "vk_svc_".length + SHOWN_LENGTH);
}
