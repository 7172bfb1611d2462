import { randomBytes } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Principal } from "../../src/access/principal.ts";
import { newId } from "../../src/base/ids.ts";
import { silentLog } from "../../src/base/log.ts";
import { DEFAULT_HTTP_LIMITS, withoutShares } from "../../src/http/server/http-limits.ts";
import type { RateLimitSettings } from "../../src/http/server/limits.ts";
import { FrontServer } from "../../src/http/server.ts";
import { DEFAULT_LIVE_LIMITS, type LiveLimits } from "../../src/http/sockets/live-limits.ts";
import type { LiveSource } from "../../src/live/live-source.ts";
import type { PublishedFrame, SessionHeartbeat } from "../../src/wire/live-frames.ts";
import { MemoryIdempotencyStore } from "../support/memory/memory-idempotency-store.ts";

const PLENTY = { perMinute: 1e9, burst: 1e9 };

/** Budgets that a load from one address does not use up. */
export const NO_LIMITS: RateLimitSettings = {
  address: PLENTY,
  auth: PLENTY,
  guest_entry: PLENTY,
  pairing: PLENTY,
  upload: PLENTY,
  query: PLENTY,
  write: PLENTY,
  read: PLENTY,
};

/** Sessions without a past, whose frames are published here. */
export class BenchSource implements LiveSource {
  readonly #followers = new Map<string, Set<(frames: PublishedFrame[]) => void>>();
  #seq = 0;

  follow(sessionId: string, onFrames: (frames: PublishedFrame[]) => void): () => void {
    const followers = this.#followers.get(sessionId) ?? new Set();
    this.#followers.set(sessionId, followers.add(onFrames));
    return () => followers.delete(onFrames);
  }

  async replay() {
    return [];
  }

  async snapshot(sessionId: string) {
    return {
      type: "Snapshot" as const,
      session_id: sessionId,
      seq: this.#seq,
      session: {
        id: sessionId,
        workspace_id: newId(),
        title: "Load",
        status: "recording" as const,
        language: "en",
        started_at: new Date().toISOString(),
      },
      speakers: [],
      segments: [],
    };
  }

  async beat(sessionId: string): Promise<SessionHeartbeat> {
    const figures = { audio_received: 0, audio_finalised: 0, lag_ms: 0, gaps: 0 };
    const frame = { type: "Heartbeat" as const, session_id: sessionId, seq: this.#seq, ...figures };
    return { frame, isOver: false };
  }

  publish(sessionId: string, frames: readonly PublishedFrame[]): void {
    this.#seq += frames.length;
    for (const follower of this.#followers.get(sessionId) ?? []) follower([...frames]);
  }
}

export interface BenchFront {
  port: number;
  source: BenchSource;
  stop(): Promise<void>;
}

/** The real front over a source in memory; every bearer is one and the same caller. */
export async function startBenchFront(): Promise<BenchFront> {
  const uploadFolder = mkdtempSync(join(tmpdir(), "voice-bench-"));
  const source = new BenchSource();
  const principal: Principal = {
    kind: "user",
    id: newId(),
    role: "participant",
    tokenId: newId(),
    expiresAt: Date.now() + 3_600_000,
  };
  const server = new FrontServer({
    routes: [],
    authenticator: { authenticate: async () => principal, revalidate: async () => principal },
    live: {
      source,
      policy: { check: async () => ({ ended: undefined, until: Number.POSITIVE_INFINITY }) },
      tickets: { redeem: async () => principal },
      revocations: { subscribe: () => () => {} },
      limits: liveLimits(),
    },
    limits: withoutShares(DEFAULT_HTTP_LIMITS),
    rates: NO_LIMITS,
    idempotency: { store: new MemoryIdempotencyStore(), secret: randomBytes(32) },
    allowedOrigins: [],
    uploadFolder,
    trustProxy: 0,
    host: "127.0.0.1",
    port: 0,
    log: silentLog,
  });
  const { port } = await server.start();
  return {
    port,
    source,
    async stop() {
      await server.stop();
      rmSync(uploadFolder, { recursive: true, force: true });
    },
  };
}

/** All viewers are one caller at one address here. */
function liveLimits(): LiveLimits {
  const { sockets } = DEFAULT_LIVE_LIMITS;
  const shares = { ...DEFAULT_LIVE_LIMITS.shares, network: sockets };
  const replays = { perMinute: 1_000_000, burst: 1_000_000 };
  return { ...DEFAULT_LIVE_LIMITS, socketsPerCaller: sockets, shares, replays };
}
