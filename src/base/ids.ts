import { createHash, randomFillSync } from "node:crypto";

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[1-8][0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

function format(bytes: Uint8Array): string {
  const hex = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("hex");
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20, 32)}`;
}

const ID_BYTES = 16;
/** Asking the system for each id alone would cost more than the id. */
const pool = Buffer.alloc(256 * ID_BYTES);
let used = pool.length;

function takeRandom(): Buffer {
  if (used === pool.length) {
    randomFillSync(pool);
    used = 0;
  }
  const from = used;
  used += ID_BYTES;
  return pool.subarray(from, used);
}

/** A new UUIDv7 (RFC 9562 §5.7) in lower case: sorts by creation time. */
export function newId(now = Date.now()): string {
  const bytes = takeRandom();
  bytes.writeUIntBE(now, 0, 6);
  bytes.writeUInt8((bytes.readUInt8(6) & 0x0f) | 0x70, 6);
  bytes.writeUInt8((bytes.readUInt8(8) & 0x3f) | 0x80, 8);
  return format(bytes);
}

/** A UUID that depends on its parts only (RFC 9562 §5.8, SHA-256, version 8). */
export function derivedId(...parts: readonly (string | number)[]): string {
  const bytes = createHash("sha256").update(parts.join("\u0000")).digest().subarray(0, 16);
  bytes.writeUInt8((bytes.readUInt8(6) & 0x0f) | 0x80, 6);
  bytes.writeUInt8((bytes.readUInt8(8) & 0x3f) | 0x80, 8);
  return format(bytes);
}

/** True for a well-formed lower-case UUID. */
export function isId(text: string): boolean {
  return UUID.test(text);
}
