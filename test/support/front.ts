import { randomBytes } from "node:crypto";
import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { AcceptedCredential, Authenticator } from "../../src/access/authenticator.ts";
import type { Principal } from "../../src/access/principal.ts";
import type { RevocationEvent } from "../../src/access/revocations.ts";
import { AppError } from "../../src/base/errors.ts";
import { silentLog } from "../../src/base/log.ts";
import { DEFAULT_HTTP_LIMITS, type HttpLimits } from "../../src/http/server/http-limits.ts";
import { DEFAULT_RATE_LIMITS, type RateLimitSettings } from "../../src/http/server/limits.ts";
import { type FrontOptions, FrontServer } from "../../src/http/server.ts";
import { DEFAULT_LIVE_LIMITS, type LiveLimits } from "../../src/http/sockets/live-limits.ts";
import type { Route } from "../../src/rest/route.ts";
import { MemoryLiveSource } from "./memory/live-source.ts";
import { MemoryIdempotencyStore } from "./memory/memory-idempotency-store.ts";

/**
 * `user-<id>` as bearer or `device-<id>` as key is that caller, until revoked; `device-<id>-of-<id>` is
 * one of that workspace. All devices are one account's.
 */
export class NamedCallers implements Authenticator {
  readonly revoked = new Set<string>();
  expiresAt = Date.now() + 3_600_000;

  async authenticate(
    headers: Readonly<Record<string, string>>,
    accepted: readonly AcceptedCredential[],
  ): Promise<Principal> {
    const bearer = /^Bearer user-(\w+)$/.exec(headers.authorization ?? "")?.[1];
    if (accepted.includes("bearer") && bearer !== undefined) return this.user(bearer);
    const [, device, workspace] =
      /^device-(\w+?)(?:-of-(\w+))?$/.exec(headers["x-api-key"] ?? "") ?? [];
    if (accepted.includes("device_key") && device !== undefined) {
      return this.#device(device, workspace);
    }
    throw new AppError("unauthorized", "Who are you?");
  }

  async revalidate(principal: Principal): Promise<Principal> {
    if (this.revoked.has(principal.id)) throw new AppError("invalid_token", "No longer.");
    return principal;
  }

  user(id: string): Principal {
    const role = id.startsWith("admin") ? "admin" : "participant";
    return { kind: "user", id, role, tokenId: `t-${id}`, expiresAt: this.expiresAt };
  }

  #device(id: string, workspaceId = "w"): Principal {
    const { expiresAt } = this;
    return { kind: "device", id, keyId: "k", workspaceId, ownerId: "o", expiresAt };
  }
}

export interface TestFront {
  server: FrontServer;
  base: string;
  port: number;
  source: MemoryLiveSource;
  callers: NamedCallers;
  tickets: Map<string, Principal>;
  forbidden: Set<string>;
  /** Sessions about which there is no answer. */
  away: Set<string>;
  /** Sessions that the policy was asked about, and whether again. */
  checks: { sessionId: string; again: boolean }[];
  /** When the right to these sessions ends by itself, Unix milliseconds. */
  rightsEnd: Map<string, number>;
  revoke(event: RevocationEvent): void;
  /** Names of temporary files that are there now. */
  leftovers(): Promise<string[]>;
  stop(): Promise<void>;
}

export interface TestFrontOptions extends Partial<Omit<FrontOptions, "limits" | "rates" | "live">> {
  routes: readonly Route[];
  limits?: Partial<HttpLimits>;
  liveLimits?: Partial<LiveLimits>;
  rates?: Partial<RateLimitSettings>;
}

/** A real server on a free port over in-memory ports. */
export async function startFront(given: TestFrontOptions): Promise<TestFront> {
  const { limits, liveLimits, rates, ...rest } = given;
  const uploadFolder = await mkdtemp(join(tmpdir(), "voice-front-"));
  const source = new MemoryLiveSource();
  const callers = new NamedCallers();
  const tickets = new Map<string, Principal>();
  const forbidden = new Set<string>();
  const away = new Set<string>();
  const checks: TestFront["checks"] = [];
  const rightsEnd: TestFront["rightsEnd"] = new Map();
  const listeners = new Set<(event: RevocationEvent) => void>();
  const server = new FrontServer({
    authenticator: callers,
    allowedOrigins: [],
    idempotency: { store: new MemoryIdempotencyStore(), secret: randomBytes(32) },
    uploadFolder,
    trustProxy: 0,
    host: "127.0.0.1",
    port: 0,
    log: silentLog,
    ...rest,
    limits: { ...DEFAULT_HTTP_LIMITS, ...limits },
    rates: { ...DEFAULT_RATE_LIMITS, ...rates },
    live: {
      source,
      policy: {
        async check(_principal, sessionId, again) {
          checks.push({ sessionId, again });
          if (away.has(sessionId)) throw new AppError("unavailable", "Away.");
          if (forbidden.has(sessionId)) throw new AppError("forbidden", "Not yours.");
          if (sessionId.endsWith("0")) throw new AppError("not_found", "No such session.");
          return { ended: source.endOf(sessionId), until: rightsEnd.get(sessionId) ?? Infinity };
        },
      },
      tickets: {
        async redeem(ticket) {
          const principal = tickets.get(ticket);
          tickets.delete(ticket);
          if (principal === undefined) throw new AppError("invalid_token", "Unknown ticket.");
          return principal;
        },
      },
      revocations: {
        subscribe(listener) {
          listeners.add(listener);
          return () => listeners.delete(listener);
        },
      },
      limits: { ...DEFAULT_LIVE_LIMITS, ...liveLimits },
    },
  });
  const { port } = await server.start();
  return {
    server,
    base: `http://127.0.0.1:${port}/api`,
    port,
    source,
    callers,
    tickets,
    forbidden,
    away,
    checks,
    rightsEnd,
    revoke: (event) => {
      for (const listener of listeners) listener(event);
    },
    leftovers: () => readdir(uploadFolder),
    async stop() {
      await server.stop();
      await rm(uploadFolder, { recursive: true, force: true });
    },
  };
}
