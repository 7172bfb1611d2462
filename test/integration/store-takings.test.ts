import { AsyncResource } from "node:async_hooks";
import { sql } from "slonik";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { newId } from "../../src/base/ids.ts";
import { SessionJournal } from "../../src/journal/session-journal.ts";
import { SessionFixture } from "../support/session-fixture.ts";

/** More than one transaction takes over. */
const MANY = 130;
/** More events than a session may have that is taken over with others. */
const LONG = 1_200;

describe("taking sessions over", () => {
  let fixture: SessionFixture;
  let journal: SessionJournal;
  beforeAll(async () => {
    fixture = await SessionFixture.open();
    journal = new SessionJournal(fixture.pool);
  });
  afterAll(async () => {
    await fixture?.close();
  });

  async function create(): Promise<string> {
    const { device } = await fixture.ownDevice();
    return fixture.start(device);
  }

  async function append(id: string, count: number): Promise<void> {
    const past = await journal.activate(id);
    const { seq = 0, epoch = 0 } = past ?? {};
    const events = Array.from({ length: count }, (_, n) => ({
      seq: seq + n + 1,
      at: 1_700_000_000_000 + n,
      event: { type: "SummaryUpdated", jobId: newId(), summaryType: `s${n}` } as const,
    }));
    const nothing = { writes: [], commandIds: [], outcomes: [] };
    await journal.append({ id, epoch, expectedSeq: seq, events, ...nothing });
  }

  it("taking over: of many at once each gets its own past, and nobody those that are not there", async () => {
    const ids = await Promise.all(Array.from({ length: MANY }, create));
    for (const [n, id] of ids.slice(0, 3).entries()) await append(id, n + 1);
    const wanted = [...ids, newId()];
    const pasts = await Promise.all(wanted.map((id) => journal.activate(id)));
    expect(pasts.at(-1)).toBeUndefined();
    expect(pasts.slice(0, -1).map((past) => past?.epoch)).toEqual(
      ids.map((_, n) => (n < 3 ? 2 : 1)),
    );
    expect(pasts.slice(0, 4).map((past) => past?.events.length)).toEqual([1, 2, 3, 0]);
  });

  it("taking over: who asks twice at once gets two epochs, and the first is fenced off", async () => {
    const id = await create();
    const [one, other] = await Promise.all([journal.activate(id), journal.activate(id)]);
    expect([one?.epoch, other?.epoch]).toEqual([1, 2]);
    const nothing = { events: [], writes: [], commandIds: [], outcomes: [] };
    const first = { id, epoch: 1, expectedSeq: 0, hasWork: true, ...nothing };
    await expect(journal.append(first)).rejects.toMatchObject({ code: "stale_epoch" });
    await journal.append({ ...first, epoch: 2 });
  });

  it("taking over: a session whose row is held waits by itself", async () => {
    const [held, free] = [await create(), await create()];
    const outside = new AsyncResource("another host");
    let isTaken = false;
    let taking: Promise<unknown> | undefined;
    await fixture.pool.transaction(async (tx) => {
      await tx.query(sql.unsafe`select from sessions where id = ${held} for update`);
      taking = outside
        .runInAsyncScope(() => journal.activate(held))
        .then(() => {
          isTaken = true;
        });
      const past = await outside.runInAsyncScope(() => journal.activate(free));
      expect(past?.epoch).toBe(1);
      expect(isTaken).toBe(false);
    });
    await taking;
    expect(isTaken).toBe(true);
  });

  it("taking over: one with very many events after its snapshot loses none of them", async () => {
    const [long, short] = [await create(), await create()];
    await append(long, LONG);
    await append(short, 2);
    const [past, other] = await Promise.all([journal.activate(long), journal.activate(short)]);
    expect(past).toMatchObject({ epoch: 2, seq: LONG });
    expect(past?.events.map(({ seq }) => seq)).toEqual(
      Array.from({ length: LONG }, (_, n) => n + 1),
    );
    expect(other?.events).toHaveLength(2);
  });
});
