import { createHash } from "node:crypto";

/** Sessions hash to this many partitions; a host owns partitions by lease. */
export const PARTITIONS = 64;

/** The partition of a session: the first byte of SHA-256 of its id, modulo PARTITIONS. */
export function partitionOf(sessionId: string): number {
  return createHash("sha256").update(sessionId).digest().readUInt8(0) % PARTITIONS;
}
