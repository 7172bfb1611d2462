import type { RateLimit } from "../../base/gcra.ts";

export interface LiveLimits {
  /** A viewer is too slow when more bytes than this wait in its socket. */
  bufferedBytes: number;
  /** Largest frame from a viewer, bytes. */
  frameBytes: number;
  /** Rate limit of a viewer's frames. */
  messages: RateLimit;
  subscriptionsPerSocket: number;
  sockets: number;
  socketsPerCaller: number;
  /** Number of bad frames after which the socket closes. */
  badFrames: number;
  tickMs: number;
  /** Number of durable frames kept per session for viewers that reconnect. */
  recentFrames: number;
  readTimeoutMs: number;
  /**
   * Silence of a session after which its viewers get a heartbeat read from the database,
   * milliseconds.
   */
  quietMs: number;
  /** Longest wait for a slow socket during a replay, milliseconds. */
  drainTimeoutMs: number;
  pingMs: number;
  /** Silence, pongs included, after which a socket counts as idle, milliseconds. */
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
