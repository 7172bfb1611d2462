import { createHash, randomFillSync } from "node:crypto";

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[1-8][0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

function format(bytes: Uint8Array): string {
  const hex = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("hex");
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20, 32)}`;
}

/** Random hex digits in an id. */
const DIGITS = 19;
/** Random bytes are drawn in advance, because a system call per id would cost more than the id. */
const pool = Buffer.alloc((256 * DIGITS) / 2);
let digits = "";
let used = 0;

const VARIANTS = "89ab";

/** The time's part is the same for all ids of a millisecond. */
let timeOf = -1;
let timeText = "";

function timePart(now: number): string {
  if (now === timeOf) return timeText;
  const hex = now.toString(16).padStart(12, "0");
  timeOf = now;
  timeText = `${hex.slice(0, 8)}-${hex.slice(8)}-7`;
  return timeText;
}

/** A new UUIDv7 (RFC 9562 §5.7) in lower case, which sorts by creation time. */
export function newId(now = Date.now()): string {
  if (used >= digits.length) {
    digits = randomFillSync(pool).toString("hex");
    used = 0;
  }
  const at = used;
  used += DIGITS;
  const variant = VARIANTS[Number.parseInt(digits[at] ?? "", 16) & 3];
  return `${timePart(now)}${digits.slice(at + 1, at + 4)}-${variant}${digits.slice(at + 4, at + 7)}-${digits.slice(at + 7, at + DIGITS)}`;
}

/** A UUID that depends only on its parts (RFC 9562 §5.8, SHA-256, version 8). */
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
