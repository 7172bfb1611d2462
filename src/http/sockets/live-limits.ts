import type { RateLimit } from "../../base/gcra.ts";

export interface LiveLimits {
  /** Bytes waiting in a socket beyond which its viewer is too slow. */
  bufferedBytes: number;
  /** Largest frame from a viewer. */
  frameBytes: number;
  /** Frames that a viewer may send. */
  messages: RateLimit;
  subscriptionsPerSocket: number;
  sockets: number;
  socketsPerCaller: number;
  /** Bad frames after which the socket closes. */
  badFrames: number;
  tickMs: number;
  /** Durable frames kept per session for those who come back. */
  recentFrames: number;
  readTimeoutMs: number;
  /** Silence of a session after which its viewers get a heartbeat from the record. */
  quietMs: number;
  /** Longest wait for a slow socket during a replay. */
  drainTimeoutMs: number;
  pingMs: number;
  /** Silence, pongs included, after which a socket is idle. */
  idleMs: number;
}

export const DEFAULT_LIVE_LIMITS: LiveLimits = {
  bufferedBytes: 1024 * 1024,
  frameBytes: 64 * 1024,
  messages: { perMinute: 600, burst: 60 },
  subscriptionsPerSocket: 32,
  sockets: 10_000,
  socketsPerCaller: 100,
  badFrames: 5,
  tickMs: 25,
  recentFrames: 512,
  readTimeoutMs: 10_000,
  quietMs: 15_000,
  drainTimeoutMs: 10_000,
  pingMs: 20_000,
  idleMs: 60_000,
};
