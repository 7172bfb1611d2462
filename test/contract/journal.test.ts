import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Batch, CommandOutcome, Journal } from "../../src/actor/journal.ts";
import { isAppError } from "../../src/base/errors.ts";
import { newId } from "../../src/base/ids.ts";
import { SessionJournal } from "../../src/journal/session-journal.ts";
import type { SessionEvent } from "../../src/session/event.ts";
import { SNAPSHOT_VERSION } from "../../src/session/snapshot.ts";
import { initialState } from "../../src/session/state.ts";
import type { SessionWrite } from "../../src/session/write.ts";
import { MemoryJournal } from "../support/memory/memory-journal.ts";
import { SessionFixture } from "../support/session-fixture.ts";

type SessionJournalPort = Journal<SessionEvent, SessionWrite>;
type SessionBatch = Batch<SessionEvent, SessionWrite>;

interface Subject {
  journal: SessionJournalPort;
  create(): Promise<string>;
  remove(id: string): Promise<void>;
}

function summary(n: number): SessionEvent {
  return { type: "SummaryUpdated", jobId: newId(), summaryType: `s${n}` };
}

function batch(id: string, epoch: number, expectedSeq: number, count: number): SessionBatch {
  const events = Array.from({ length: count }, (_, n) => ({
    seq: expectedSeq + n + 1,
    at: 1_700_000_000_000 + n,
    event: summary(expectedSeq + n + 1),
  }));
  return { id, epoch, expectedSeq, events, writes: [], commandIds: [], outcomes: [] };
}

async function codeOf(work: Promise<unknown>): Promise<string> {
  try {
    await work;
    return "none";
  } catch (error) {
    return isAppError(error) ? error.code : String(error);
  }
}

function journalContract(name: string, subject: () => Subject): void {
  describe(`journal: ${name}`, () => {
    it("journal: what is appended is loaded, in order, by the next activation", async () => {
      const { journal, create } = subject();
      const id = await create();
      const first = await journal.activate(id);
      expect(first).toMatchObject({ epoch: 1, seq: 0, events: [] });
      const one = batch(id, 1, 0, 3);
      await journal.append(one);
      await journal.append(batch(id, 1, 3, 2));
      const second = await journal.activate(id);
      expect(second).toMatchObject({ epoch: 2, seq: 5 });
      expect(second?.events.map(({ seq }) => seq)).toEqual([1, 2, 3, 4, 5]);
      expect(second?.events.slice(0, 3)).toEqual(one.events);
    });

    it("journal: outcomes of commands are there for the next activation, oldest first", async () => {
      const { journal, create } = subject();
      const id = await create();
      await journal.activate(id);
      const outcomes: CommandOutcome[] = [
        { commandId: newId(), outcome: { ok: true, value: { label: "S1" } } },
        { commandId: newId(), outcome: { ok: false, code: "conflict", message: "No." } },
      ];
      for (const outcome of outcomes) {
        await journal.append({ ...batch(id, 1, 0, 0), outcomes: [outcome] });
      }
      // As after an answer that got lost.
      await journal.append({ ...batch(id, 1, 0, 0), outcomes });
      expect((await journal.activate(id))?.outcomes).toEqual(outcomes);
      const other = await create();
      expect((await journal.activate(other))?.outcomes).toEqual([]);
    });

    it("journal: an earlier epoch is refused, and so is a wrong seq", async () => {
      const { journal, create } = subject();
      const id = await create();
      await journal.activate(id);
      await journal.activate(id);
      expect(await codeOf(journal.append(batch(id, 1, 0, 1)))).toBe("stale_epoch");
      expect(await codeOf(journal.append(batch(id, 2, 1, 1)))).toBe("stale_epoch");
      await journal.append(batch(id, 2, 0, 1));
      expect(await codeOf(journal.append(batch(id, 2, 0, 1)))).toBe("stale_epoch");
      expect((await journal.activate(id))?.seq).toBe(1);
    });

    it("journal: what landed, and whose answer was lost, is not written again", async () => {
      const { journal, create } = subject();
      const id = await create();
      await journal.activate(id);
      const one = batch(id, 1, 0, 2);
      await journal.append(one);
      await journal.append(one);
      expect(await codeOf(journal.append({ ...one, events: batch(id, 1, 0, 2).events }))).toBe(
        "stale_epoch",
      );
      await journal.append(batch(id, 1, 2, 1));
      expect((await journal.load(id, "beginning"))?.seq).toBe(3);
      // Landed or not: when somebody else has it, that is what counts.
      await journal.activate(id);
      expect(await codeOf(journal.append(one))).toBe("stale_epoch");
    });

    it("journal: it is loaded without being taken over, from its beginning too", async () => {
      const { journal, create, remove } = subject();
      const id = await create();
      const first = await journal.activate(id);
      const state = { ...initialState(id), checkpoint: 7 };
      await journal.append({
        ...batch(id, 1, 0, 2),
        snapshot: { version: SNAPSHOT_VERSION, state },
      });
      await journal.append(batch(id, 1, 2, 1));
      const loaded = await journal.load(id, "snapshot");
      expect(loaded).toMatchObject({ epoch: 1, seq: 3, snapshot: { seq: 2 } });
      expect(loaded?.events.map(({ seq }) => seq)).toEqual([3]);
      const whole = await journal.load(id, "beginning");
      expect(whole?.snapshot).toBeUndefined();
      expect(whole?.events.map(({ seq }) => seq)).toEqual([1, 2, 3]);
      expect(whole?.now).toBeGreaterThanOrEqual(first?.now ?? Number.NaN);
      await journal.append(batch(id, 1, 3, 1));
      await remove(id);
      expect(await journal.load(id, "snapshot")).toBeUndefined();
    });

    it("journal: past its deadline, by the record's time, nothing of a batch is written", async () => {
      const { journal, create } = subject();
      const id = await create();
      const { now = Number.NaN } = (await journal.activate(id)) ?? {};
      const outcomes = [{ commandId: newId(), outcome: { ok: true as const, value: null } }];
      for (const count of [0, 2]) {
        const late = { ...batch(id, 1, 0, count), outcomes, deadline: now - 1 };
        expect(await codeOf(journal.append(late))).toBe("too_late");
      }
      expect(await journal.load(id, "beginning")).toMatchObject({ seq: 0, outcomes: [] });
      const inTime = { ...batch(id, 1, 0, 2), outcomes, deadline: now + 60_000 };
      expect((await journal.append(inTime)).now).toBeGreaterThanOrEqual(now);
      expect(await journal.load(id, "beginning")).toMatchObject({ seq: 2, outcomes });
      // What is durable is so, even if its answer comes to be asked for too late.
      await journal.append({ ...inTime, deadline: now - 1 });
    });

    it("journal: of rival appends of one seq exactly one lands", async () => {
      const { journal, create } = subject();
      const id = await create();
      await journal.activate(id);
      const codes = await Promise.all(
        Array.from({ length: 8 }, () => codeOf(journal.append(batch(id, 1, 0, 2)))),
      );
      expect(codes.filter((code) => code === "none")).toHaveLength(1);
      expect((await journal.activate(id))?.seq).toBe(2);
    });

    it("journal: a snapshot stands for the events before it", async () => {
      const { journal, create } = subject();
      const id = await create();
      await journal.activate(id);
      const state = { ...initialState(id), checkpoint: 7 };
      await journal.append({
        ...batch(id, 1, 0, 4),
        snapshot: { version: SNAPSHOT_VERSION, state },
      });
      await journal.append(batch(id, 1, 4, 1));
      const loaded = await journal.activate(id);
      expect(loaded?.snapshot).toMatchObject({ seq: 4, state: { checkpoint: 7 } });
      expect(loaded?.events.map(({ seq }) => seq)).toEqual([5]);
    });

    it("journal: while releases change, each finds the snapshot of its own version", async () => {
      const { journal, create } = subject();
      const id = await create();
      await journal.activate(id);
      const at = async (seq: number, version: number): Promise<void> => {
        const state = { ...initialState(id), checkpoint: version };
        await journal.append({ ...batch(id, 1, seq, 1), snapshot: { version, state } });
      };
      await at(0, SNAPSHOT_VERSION - 1);
      await at(1, SNAPSHOT_VERSION);
      await at(2, SNAPSHOT_VERSION + 1);
      await at(3, SNAPSHOT_VERSION + 1);
      const loaded = await journal.load(id, "snapshot");
      expect(loaded?.snapshot).toMatchObject({ seq: 2, state: { checkpoint: SNAPSHOT_VERSION } });
      expect(loaded?.events.map(({ seq }) => seq)).toEqual([3, 4]);
      await at(4, SNAPSHOT_VERSION + 2);
      expect((await journal.load(id, "snapshot"))?.snapshot).toBeUndefined();
    });

    it("journal: after a deletion nothing is appended or activated", async () => {
      const { journal, create, remove } = subject();
      const id = await create();
      await journal.activate(id);
      await remove(id);
      expect(await codeOf(journal.append(batch(id, 1, 0, 1)))).toBe("session_deleted");
      expect(await journal.activate(id)).toBeUndefined();
      expect(await journal.activate(newId())).toBeUndefined();
    });
  });
}

const memory = new MemoryJournal<SessionEvent, SessionWrite>({
  version: SNAPSHOT_VERSION,
});
journalContract("memory", () => ({
  journal: memory,
  create: async () => {
    const id = newId();
    memory.create(id);
    return id;
  },
  remove: async (id) => memory.remove(id),
}));

describe("journals in PostgreSQL", () => {
  let fixture: SessionFixture;
  beforeAll(async () => {
    fixture = await SessionFixture.open();
  });
  afterAll(() => fixture.close());
  journalContract("PostgreSQL", () => ({
    journal: new SessionJournal(fixture.pool),
    create: async () => {
      const { device } = await fixture.ownDevice();
      return fixture.start(device, { title: "T" });
    },
    remove: async (id) => {
      await fixture.sql("update sessions set status = 'deleted' where id = $1", [id]);
    },
  }));
});
