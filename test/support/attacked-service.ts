import { rmSync } from "node:fs";
import type { QueryResultRow } from "pg";
import { systemClock } from "../../src/base/clock.ts";
import { newId } from "../../src/base/ids.ts";
import type { SessionEvent } from "../../src/session/event.ts";
import { Tokens } from "../../src/tenancy/accounts/tokens.ts";
import { openPolicyParts, type PolicyParts } from "./policy-parts.ts";
import type { TestDatabase } from "./postgres.ts";

export type Headers = Readonly<Record<string, string>>;

/** A user who is signed in. */
export interface Person {
  id: string;
  email: string;
  headers: Headers;
}

export interface AttackAnswer {
  status: number;
  code: string | null;
  text: string;
  body: Record<string, unknown>;
}

const HOUR = 3_600_000;
/** Samples between two segments of a told session. */
export const PAUSE = 16_000;

/** The whole service, as `startApp` composes it, with what an attack needs to begin. */
export class AttackedService {
  readonly #parts: PolicyParts;
  readonly #tokens: Tokens;

  private constructor(parts: PolicyParts) {
    this.#parts = parts;
    this.#tokens = new Tokens(parts.keys.ring, systemClock);
  }

  /** `env`: settings besides the usual; `given`: a migrated database in place of a new one. */
  static async open(
    env: Readonly<Record<string, string>> = {},
    given?: TestDatabase,
  ): Promise<AttackedService> {
    return new AttackedService(await openPolicyParts(given, env));
  }

  async close(): Promise<void> {
    const { app, pool, database, folder, nats } = this.#parts;
    await app.stop();
    await pool.end();
    await Promise.all([database.drop(), nats.stop()]);
    rmSync(folder, { recursive: true, force: true });
  }

  get api(): string {
    return `${this.#parts.app.addresses.base_url}/api`;
  }

  /** Where the live channel is. */
  get liveUrl(): string {
    return String(this.#parts.app.addresses.live_url);
  }

  /** Where the gRPC service for others is. */
  get grpcAddress(): string {
    return this.#parts.app.addresses.grpc_sessions;
  }

  /** Where the bus is, and what lets everybody in. */
  get nats(): { url: string; token: string } {
    const { url, token } = this.#parts.nats;
    return { url, token };
  }

  /** What the operations port tells of the process. */
  async metrics(): Promise<string> {
    const response = await fetch(`${this.#parts.app.addresses.ops_url}/metrics`);
    return response.text();
  }

  /** Where the service keeps its files. */
  get folder(): string {
    return this.#parts.folder;
  }

  /** The key of voice prints at rest. */
  get voiceKey(): Uint8Array {
    return this.#parts.keys.voiceKey;
  }

  /** Runs a statement as the role that serves. */
  async sql<T extends QueryResultRow>(text: string, values: unknown[] = []): Promise<T[]> {
    return (await this.#parts.pool.query<T>(text, values)).rows;
  }

  async call(
    method: string,
    path: string,
    headers: Headers = {},
    body?: unknown,
  ): Promise<AttackAnswer> {
    const isJson = body !== undefined && !Buffer.isBuffer(body);
    const response = await fetch(this.api + path, {
      method,
      headers: isJson ? { "content-type": "application/json", ...headers } : headers,
      body: isJson ? JSON.stringify(body) : ((body as Buffer | undefined) ?? null),
    });
    const text = await response.text();
    return {
      status: response.status,
      code: response.headers.get("x-error-code"),
      text,
      body: /json/.test(response.headers.get("content-type") ?? "") ? JSON.parse(text) : {},
    };
  }

  /** As `call`, with the body of an answer that is no refusal. */
  async done(method: string, path: string, headers: Headers, body?: unknown) {
    const answer = await this.call(method, path, headers, body);
    if (answer.status < 300) return answer.body;
    throw new Error(`${method} ${path}: ${answer.status} ${answer.text}`);
  }

  /** A user who is signed in; `passwordHash` undefined: without a password. */
  async addUser(
    role = "participant",
    email = `${newId()}@example.org`,
    passwordHash?: string,
  ): Promise<Person> {
    const id = newId();
    await this.sql(
      `insert into users (id, email, name, role, password_hash, tokens_valid_from)
       values ($1, $2, 'U', $3, $4, now() - interval '1 day')`,
      [id, email, role, passwordHash ?? null],
    );
    return { id, email, headers: await this.signIn(id) };
  }

  /** Headers with the access token of a login of its own, which began `agoMs` before. */
  async signIn(userId: string, agoMs = 0): Promise<Headers> {
    const scope = newId();
    await this.sql(
      `insert into logins (id, user_id, expires_at, created_at)
       values ($1, $2, now() + interval '1 hour', clock_timestamp() - $3 * interval '1 ms')`,
      [scope, userId, agoMs],
    );
    const expiresAt = Date.now() + HOUR;
    const claims = { kind: "access", subject: userId, scope, expiresAt } as const;
    return { authorization: `Bearer ${await this.#tokens.sign(claims)}` };
  }

  /** A workspace of this owner. */
  async addWorkspace(ownerId: string): Promise<string> {
    const id = newId();
    await this.sql("insert into workspaces (id, name, created_by) values ($1, 'W', $2)", [
      id,
      ownerId,
    ]);
    await this.join(id, ownerId, "owner");
    return id;
  }

  async join(workspaceId: string, userId: string, role: "owner" | "member"): Promise<void> {
    await this.sql(
      "insert into workspace_members (workspace_id, user_id, role) values ($1, $2, $3)",
      [workspaceId, userId, role],
    );
  }

  /**
   * A session without a device that is over, with one segment of these words for each speaker, a
   * second after the one before, as its actor has recorded it; of two seconds by default.
   */
  async addTold(
    workspaceId: string,
    ownerId: string,
    segments: readonly { label: string; text: string; samples?: number }[],
  ): Promise<string> {
    const [id, jobId] = [newId(), newId()];
    let end = -PAUSE;
    const said = segments.map(({ label, text, samples = 32_000 }, cluster) => {
      const start = end + PAUSE;
      end = start + samples;
      return { segmentId: newId(), start, end, label, cluster, text };
    });
    const events: SessionEvent[] = [
      { type: "SessionStarted", sessionId: id, jobId, language: "en" },
      ...said.map(({ text: _, ...segment }) => {
        return { type: "SegmentFinalised" as const, ...segment, checkpoint: segment.end };
      }),
      { type: "SessionStopped", lastSequence: -1 },
      { type: "SessionCompleted" },
    ];
    await this.sql(
      `insert into sessions (id, workspace_id, owner_id, job_id, status, seq)
       values ($1, $2, $3, $4, 'completed', $5)`,
      [id, workspaceId, ownerId, jobId, events.length],
    );
    for (const { segmentId, start, end, label, text } of said) {
      await this.sql(
        `insert into segments
           (session_id, id, attempt, start_sample, end_sample, label, text, words, confidence)
         values ($1, $2, 1, $3, $4, $5, $6, '[]', 0.9)`,
        [id, segmentId, start, end, label, text],
      );
    }
    await this.sql(
      `insert into events (session_id, seq, epoch, at, type, payload)
       select $1::uuid, n, 1, now(), e ->> 'type', e
       from jsonb_array_elements($2::jsonb) with ordinality as t (e, n)`,
      [id, JSON.stringify(events)],
    );
    return id;
  }
}
