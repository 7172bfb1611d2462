import type { RateLimit } from "../../base/gcra.ts";

interface SocketShares {
  /** An IPv4 address, or the /64 of an IPv6 address. */
  network: number;
  /** The /48 of an IPv6 address. */
  site: number;
  /** The workspace of devices or service keys. */
  workspace: number;
  /** A user, with their devices and service keys. */
  account: number;
  /** The guests of one session. */
  session: number;
  /** All guests. */
  guests: number;
}

/** Whose share of the sockets a socket counts for. */
export type SocketHolder = keyof SocketShares | "caller";

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
  /** Of all sockets, what others than a caller may have together. */
  shares: SocketShares;
  /** How often a caller may ask for a page of the record; beyond it pages come more slowly. */
  replays: RateLimit;
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
  // An office of fifty people with a few tabs each fits, and so does a lecture with its guests.
  shares: {
    network: 1_000,
    site: 2_000,
    workspace: 2_000,
    account: 2_000,
    session: 1_000,
    guests: 5_000,
  },
  replays: { perMinute: 1_200, burst: 1_000 },
  badFrames: 5,
  tickMs: 25,
  recentFrames: 512,
  readTimeoutMs: 10_000,
  quietMs: 15_000,
  drainTimeoutMs: 10_000,
  pingMs: 20_000,
  idleMs: 60_000,
};
