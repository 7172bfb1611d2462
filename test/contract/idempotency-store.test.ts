import { randomBytes } from "node:crypto";
import { type DatabasePool, sql } from "slonik";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { PostgresIdempotencyStore } from "../../src/postgres/idempotency-store.ts";
import type { IdempotencyEntry, IdempotencyStore } from "../../src/rest/idempotency.ts";
import { MemoryIdempotencyStore } from "../support/memory/memory-idempotency-store.ts";
import { SessionFixture } from "../support/session-fixture.ts";

interface Subject {
  store: IdempotencyStore;
  pass(milliseconds: number): Promise<void>;
  createSession(): Promise<string>;
  deleteSession(id: string): Promise<void>;
}

function newEntry(): IdempotencyEntry {
  return { keyHash: randomBytes(32), fingerprint: randomBytes(32) };
}

function bookContract(name: string, open: () => Subject): void {
  async function begin(entry: IdempotencyEntry): Promise<string> {
    const verdict = await open().store.begin(entry);
    if (verdict.kind !== "run") throw new Error(`not to run but ${verdict.kind}`);
    return verdict.attempt;
  }

  describe(`idempotency book: ${name}`, () => {
    it("lets one of many run and gives the others its answer afterwards", async () => {
      const { store } = open();
      const entry = newEntry();
      const verdicts = await Promise.all(Array.from({ length: 8 }, () => store.begin(entry)));
      expect(verdicts.filter(({ kind }) => kind === "running")).toHaveLength(7);
      const run = verdicts.find((verdict) => verdict.kind === "run");
      const answer = Buffer.from("sealed");
      await store.finish(entry.keyHash, run?.attempt ?? "", answer, undefined);
      expect(await store.begin(entry)).toEqual({ kind: "answered", answer });
      const other = { ...entry, fingerprint: randomBytes(32) };
      expect(await store.begin(other)).toEqual({ kind: "mismatch" });
    });

    it("frees a released key, also for another request", async () => {
      const { store } = open();
      const entry = newEntry();
      await store.release(entry.keyHash, await begin(entry));
      await begin({ ...entry, fingerprint: randomBytes(32) });
    });

    it("takes a run of more than 60 s for dead, and nothing from it any more", async () => {
      const { store, pass } = open();
      const entry = newEntry();
      const late = await begin(entry);
      await pass(59_000);
      expect((await store.begin(entry)).kind).toBe("running");
      await pass(2_000);
      const fresh = await begin(entry);
      await store.finish(entry.keyHash, late, Buffer.from("late"), undefined);
      await store.release(entry.keyHash, late);
      expect((await store.begin(entry)).kind).toBe("running");
      await store.finish(entry.keyHash, fresh, Buffer.from("fresh"), undefined);
      expect(await store.begin(entry)).toMatchObject({ kind: "answered" });
    });

    it("keeps an answer for 24 h", async () => {
      const { store, pass } = open();
      const entry = newEntry();
      await store.finish(entry.keyHash, await begin(entry), Buffer.from("a"), undefined);
      await pass(24 * 3_600_000 - 10_000);
      expect((await store.begin(entry)).kind).toBe("answered");
      await pass(20_000);
      await begin(entry);
    });

    it("forgets the answers of a deleted session and keeps none afterwards", async () => {
      const { store, createSession, deleteSession } = open();
      const [early, late] = [newEntry(), newEntry()];
      const sessionId = await createSession();
      await store.finish(early.keyHash, await begin(early), Buffer.from("a"), sessionId);
      const running = await begin(late);
      await deleteSession(sessionId);
      await store.finish(late.keyHash, running, Buffer.from("a"), sessionId);
      await begin(early);
      await begin(late);
    });
  });
}

const memory = new MemoryIdempotencyStore();
bookContract("in memory", () => ({
  store: memory,
  pass: async (milliseconds) => memory.pass(milliseconds),
  createSession: async () => randomBytes(8).toString("hex"),
  deleteSession: async (id) => memory.deleteSession(id),
}));

describe("with PostgreSQL", () => {
  let fixture: SessionFixture;
  let pool: DatabasePool;

  beforeAll(async () => {
    fixture = await SessionFixture.open();
    pool = fixture.pool;
  });

  afterAll(() => fixture.close());

  bookContract("PostgreSQL", () => ({
    store: new PostgresIdempotencyStore(pool),
    async pass(milliseconds) {
      await pool.query(sql.unsafe`
        update idempotency_keys set expires_at = expires_at - ${milliseconds} * interval '1 ms'`);
    },
    createSession: async () => fixture.start((await fixture.ownDevice()).device),
    async deleteSession(id) {
      await pool.query(sql.unsafe`update sessions set status = 'deleted' where id = ${id}`);
    },
  }));
});
