import { randomBytes } from "node:crypto";
import { type DatabasePool, sql } from "slonik";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { PostgresIdempotencyBook } from "../../src/postgres/idempotency.ts";
import type { IdempotencyBook, IdempotencyEntry } from "../../src/rest/idempotency.ts";
import { MemoryIdempotencyBook } from "../support/memory/memory-idempotency-book.ts";
import { SessionHouse } from "../support/session-house.ts";

interface Subject {
  book: IdempotencyBook;
  pass(milliseconds: number): Promise<void>;
  createSession(): Promise<string>;
  deleteSession(id: string): Promise<void>;
}

function newEntry(): IdempotencyEntry {
  return { keyHash: randomBytes(32), fingerprint: randomBytes(32) };
}

function bookContract(name: string, open: () => Subject): void {
  async function begin(entry: IdempotencyEntry): Promise<string> {
    const verdict = await open().book.begin(entry);
    if (verdict.kind !== "run") throw new Error(`not to run but ${verdict.kind}`);
    return verdict.attempt;
  }

  describe(`idempotency book: ${name}`, () => {
    it("lets one of many run and gives the others its answer afterwards", async () => {
      const { book } = open();
      const entry = newEntry();
      const verdicts = await Promise.all(Array.from({ length: 8 }, () => book.begin(entry)));
      expect(verdicts.filter(({ kind }) => kind === "running")).toHaveLength(7);
      const run = verdicts.find((verdict) => verdict.kind === "run");
      const answer = Buffer.from("sealed");
      await book.finish(entry.keyHash, run?.attempt ?? "", answer, undefined);
      expect(await book.begin(entry)).toEqual({ kind: "answered", answer });
      const other = { ...entry, fingerprint: randomBytes(32) };
      expect(await book.begin(other)).toEqual({ kind: "mismatch" });
    });

    it("frees a released key, also for another request", async () => {
      const { book } = open();
      const entry = newEntry();
      await book.release(entry.keyHash, await begin(entry));
      await begin({ ...entry, fingerprint: randomBytes(32) });
    });

    it("takes a run of more than 60 s for dead, and nothing from it any more", async () => {
      const { book, pass } = open();
      const entry = newEntry();
      const late = await begin(entry);
      await pass(59_000);
      expect((await book.begin(entry)).kind).toBe("running");
      await pass(2_000);
      const fresh = await begin(entry);
      await book.finish(entry.keyHash, late, Buffer.from("late"), undefined);
      await book.release(entry.keyHash, late);
      expect((await book.begin(entry)).kind).toBe("running");
      await book.finish(entry.keyHash, fresh, Buffer.from("fresh"), undefined);
      expect(await book.begin(entry)).toMatchObject({ kind: "answered" });
    });

    it("keeps an answer for 24 h", async () => {
      const { book, pass } = open();
      const entry = newEntry();
      await book.finish(entry.keyHash, await begin(entry), Buffer.from("a"), undefined);
      await pass(24 * 3_600_000 - 10_000);
      expect((await book.begin(entry)).kind).toBe("answered");
      await pass(20_000);
      await begin(entry);
    });

    it("forgets the answers of a deleted session and keeps none afterwards", async () => {
      const { book, createSession, deleteSession } = open();
      const [early, late] = [newEntry(), newEntry()];
      const sessionId = await createSession();
      await book.finish(early.keyHash, await begin(early), Buffer.from("a"), sessionId);
      const running = await begin(late);
      await deleteSession(sessionId);
      await book.finish(late.keyHash, running, Buffer.from("a"), sessionId);
      await begin(early);
      await begin(late);
    });
  });
}

const memory = new MemoryIdempotencyBook();
bookContract("in memory", () => ({
  book: memory,
  pass: async (milliseconds) => memory.pass(milliseconds),
  createSession: async () => randomBytes(8).toString("hex"),
  deleteSession: async (id) => memory.deleteSession(id),
}));

describe("with PostgreSQL", () => {
  let house: SessionHouse;
  let pool: DatabasePool;

  beforeAll(async () => {
    house = await SessionHouse.open();
    pool = house.pool;
  });

  afterAll(() => house.close());

  bookContract("PostgreSQL", () => ({
    book: new PostgresIdempotencyBook(pool),
    async pass(milliseconds) {
      await pool.query(sql.unsafe`
        update idempotency_keys set expires_at = expires_at - ${milliseconds} * interval '1 ms'`);
    },
    createSession: async () => house.start((await house.ownDevice()).device),
    async deleteSession(id) {
      await pool.query(sql.unsafe`update sessions set status = 'deleted' where id = ${id}`);
    },
  }));
});
