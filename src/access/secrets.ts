import { hash, randomBytes } from "node:crypto";
import { link, open, rm, stat } from "node:fs/promises";
import { dirname } from "node:path";
import { crc32 } from "node:zlib";

const BASE62 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

/** Returns `length` characters drawn uniformly from `alphabet` by the system's random source. */
export function randomText(length: number, alphabet = BASE62): string {
  // Bytes beyond the last whole multiple are discarded, as they would make early letters likelier.
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
function toBase62(value: number, width: number): string {
  let text = "";
  for (let rest = value; text.length < width; rest = Math.floor(rest / 62)) {
    text = BASE62.charAt(rest % 62) + text;
  }
  return text;
}

/** The hash under which a secret of at least 128 random bits is stored. */
export function secretHash(secret: string): Buffer {
  return hash("sha256", secret, "buffer");
}

const RANDOM_LENGTH = 32;
const CHECKSUM_LENGTH = 6;
const TAIL = /^[0-9A-Za-z]{38}$/;
const SHOWN_LENGTH = 6;

/** Prefix of an API key: of a device, or of a service. */
type KeyPrefix = "vk_dev_" | "vk_svc_";

function checksum(prefix: KeyPrefix, random: string): string {
  return toBase62(crc32(prefix + random), CHECKSUM_LENGTH);
}

/**
 * Makes an API key: the prefix, 32 random base-62 characters (190 bits), and the CRC-32 of both in
 * base 62, so that mistyped and leaked keys are recognised without the database.
 */
function newApiKey(prefix: KeyPrefix): string {
  const random = randomText(RANDOM_LENGTH);
  return prefix + random + checksum(prefix, random);
}

/** True when `text` has the form and checksum of such a key; it may still be invalid. */
function isApiKey(prefix: KeyPrefix, text: string): boolean {
  if (!text.startsWith(prefix)) return false;
  const tail = text.slice(prefix.length);
  if (!TAIL.test(tail)) return false;
  return tail.endsWith(checksum(prefix, tail.slice(0, RANDOM_LENGTH)));
}

/**
 * The part of a key that may be stored, so that people recognise it: 154 of its 190 bits stay
 * secret.
 */
export function shownPart(key: string): string {
  return key.slice(0, "vk_svc_".length + SHOWN_LENGTH);
}

const BEARER = /^Bearer +([A-Za-z0-9._~+/-]+=*)$/i;

/** The token of an `Authorization: Bearer` header (RFC 6750 §2.1); undefined when there is none. */
export function bearerOf(headers: Readonly<Record<string, string>>): string | undefined {
  return BEARER.exec(headers.authorization ?? "")?.[1];
}

const COMPAT_KEY = /^(?:Bearer|Token) +([A-Za-z0-9_]+) *$/i;
const COMPAT_PROTOCOL = /^ *(?:token|bearer) *, *([A-Za-z0-9_]+) *$/i;

/**
 * The key in the headers of other services' clients: `Authorization: Bearer` (OpenAI) or `Token`
 * (Deepgram), or in a browser's WebSocket the subprotocols `token, <key>`. Also `X-API-Key`, the
 * header of service keys everywhere else. Undefined when there is none.
 */
export function compatKeyOf(headers: Readonly<Record<string, string>>): string | undefined {
  const { authorization, "sec-websocket-protocol": protocols, "x-api-key": own } = headers;
  if (authorization !== undefined) return COMPAT_KEY.exec(authorization)?.[1];
  if (protocols !== undefined) return COMPAT_PROTOCOL.exec(protocols)?.[1];
  return own;
}

const DEVICE_PREFIX = "vk_dev_";

export function newDeviceKey(): string {
  return newApiKey(DEVICE_PREFIX);
}

/** True when `text` has the form and checksum of a device key; it may still be invalid. */
export function isDeviceKey(text: string): boolean {
  return isApiKey(DEVICE_PREFIX, text);
}

/**
 * Writes a file that only its owner can read, unless it exists; readers never see a partial file.
 * Root gives the file to the owner of the folder. Returns true when it was written now.
 */
export async function createOnce(path: string, content: string): Promise<boolean> {
  const temporary = `${path}.${randomBytes(6).toString("hex")}.tmp`;
  const file = await open(temporary, "wx", 0o600);
  try {
    await file.writeFile(content);
    await file.sync();
    if (process.getuid?.() === 0) {
      const { uid, gid } = await stat(dirname(path));
      await file.chown(uid, gid);
    }
    await link(temporary, path);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EEXIST") return false;
    throw error;
  } finally {
    await file.close();
    await rm(temporary, { force: true });
  }
}

const SERVICE_PREFIX = "vk_svc_";

export function newServiceKey(): string {
  return newApiKey(SERVICE_PREFIX);
}

/** True when `text` has the form and checksum of a service key; it may still be invalid. */
export function isServiceKey(text: string): boolean {
  return isApiKey(SERVICE_PREFIX, text);
}
