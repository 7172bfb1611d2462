import type { RateLimit } from "../base/gcra.ts";

export interface RpcLimits {
  /** Calls per key that read, beginnings of streams included. */
  read: RateLimit;
  /** Questions per key. */
  query: RateLimit;
  /** Time of a call whose client gave it none, in milliseconds. */
  readMs: number;
  askMs: number;
  /** Watches open at once. */
  watches: number;
  watchesPerKey: number;
  /** Streams of audio open at once. */
  ingests: number;
  ingestsPerKey: number;
  /** Time without a message after which a stream of audio ends. */
  ingestIdleMs: number;
  /** Bytes that wait for the client of a watch before it is too slow. */
  waitingBytes: number;
  /** Bytes of a watch that are on their way at once. */
  inFlightBytes: number;
  /** Longest wait for a slow client during a replay. */
  drainTimeoutMs: number;
  /** Longest read of the record on behalf of a watch. */
  readTimeoutMs: number;
  /** Silence of a session after which its watches get a heartbeat from the record. */
  quietMs: number;
}

export const DEFAULT_RPC_LIMITS: RpcLimits = {
  read: { perMinute: 1_200, burst: 300 },
  query: { perMinute: 60, burst: 20 },
  readMs: 10_000,
  askMs: 30_000,
  watches: 5_000,
  watchesPerKey: 100,
  ingests: 1_000,
  ingestsPerKey: 100,
  ingestIdleMs: 300_000,
  waitingBytes: 1024 * 1024,
  inFlightBytes: 64 * 1024,
  drainTimeoutMs: 10_000,
  readTimeoutMs: 10_000,
  quietMs: 15_000,
};
