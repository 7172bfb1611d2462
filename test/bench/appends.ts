import { newId } from "../../src/base/ids.ts";
import { SessionJournal } from "../../src/journal/session-journal.ts";
import { createPool } from "../../src/postgres/pool.ts";
import type { SegmentText } from "../../src/session/write.ts";
import { BenchFixture } from "./bench-fixture.ts";
import type { BenchRow, BenchScale } from "./row.ts";
import { median } from "./statistics.ts";

/** As a host has them for everything unless it is told otherwise. */
const CONNECTIONS = 10;
const HOSTS_SESSIONS = [1, 10, 100];
const WORDS = 12;

interface Round {
  perSecond: number;
  flushes: number;
}

/**
 * Turns of one host's sessions, each a final with its words, in a database that flushes. How many of
 * them PostgreSQL makes durable with one flush tells what a group commit of ours could still save.
 */
export async function measureAppends(scale: BenchScale): Promise<BenchRow[]> {
  const fixture = await BenchFixture.open();
  const pool = await createPool(fixture.database.serviceUrl, { maximumPoolSize: CONNECTIONS });
  try {
    const journal = new SessionJournal(pool);
    const user = await fixture.addUser();
    const rows: BenchRow[] = [];
    for (const count of HOSTS_SESSIONS) {
      const sessions = await Promise.all(
        Array.from({ length: count }, async () =>
          Writer.of(journal, await fixture.addSession(user)),
        ),
      );
      const rounds: Round[] = [];
      for (let round = 0; round <= scale.rounds; round += 1) {
        const measured = await appendFor(fixture, sessions, scale.roundMs);
        if (round > 0) rounds.push(measured);
      }
      rows.push(rowOf(count, rounds));
    }
    return rows;
  } finally {
    await pool.end();
    await fixture.close();
  }
}

function rowOf(count: number, rounds: readonly Round[]): BenchRow {
  const flushes = median(rounds.map((round) => round.flushes));
  return {
    figure: `appends of ${count} sessions at once`,
    unit: "a second",
    ours: median(rounds.map(({ perSecond }) => perSecond)),
    mark: "",
    detail: `each one statement; ${flushes.toFixed(2)} flushes of the log for each, ${CONNECTIONS} connections`,
  };
}

async function appendFor(
  fixture: BenchFixture,
  sessions: readonly Writer[],
  ms: number,
): Promise<Round> {
  const before = await flushesOf(fixture);
  const begun = performance.now();
  const isOver = () => performance.now() - begun >= ms;
  const counts = await Promise.all(sessions.map((session) => session.appendUntil(isOver)));
  const seconds = (performance.now() - begun) / 1_000;
  const count = counts.reduce((sum, each) => sum + each, 0);
  return {
    perSecond: count / seconds,
    flushes: ((await flushesOf(fixture)) - before) / count,
  };
}

/** Of the whole server, once its processes have told. */
async function flushesOf(fixture: BenchFixture): Promise<number> {
  await new Promise((told) => setTimeout(told, 1_200));
  const { rows } = await fixture.owner.query<{ flushes: number }>(
    "select wal_sync::int as flushes from pg_stat_wal",
  );
  return rows[0]?.flushes ?? 0;
}

/** One session whose turns are appended one after the other. */
class Writer {
  readonly #journal: SessionJournal;
  readonly #id: string;
  readonly #epoch: number;
  #seq: number;

  private constructor(journal: SessionJournal, id: string, epoch: number, seq: number) {
    this.#journal = journal;
    this.#id = id;
    this.#epoch = epoch;
    this.#seq = seq;
  }

  static async of(journal: SessionJournal, id: string): Promise<Writer> {
    const past = await journal.activate(id);
    if (past === undefined) throw new Error("The session is not there.");
    return new Writer(journal, id, past.epoch, past.seq);
  }

  async appendUntil(isOver: () => boolean): Promise<number> {
    let count = 0;
    for (; !isOver(); count += 1) await this.#append();
    return count;
  }

  async #append(): Promise<void> {
    const start = 16_000 * this.#seq;
    const [segmentId, end, label] = [newId(), start + 15_000, "S1"];
    const step = 15_000 / WORDS;
    const words = Array.from({ length: WORDS }, (_, n) => ({
      text: `word${n}`,
      start: start + n * step,
      end: start + (n + 1) * step,
      confidence: 0.9,
    }));
    const place = { segmentId, start, end, label };
    const text: SegmentText = {
      ...{ type: "SegmentText", attempt: 1, words, confidence: 0.9, redacted: false },
      ...place,
    };
    const event = {
      ...{ type: "SegmentFinalised" as const, cluster: 0, checkpoint: end, resume: end },
      ...place,
    };
    await this.#journal.append({
      id: this.#id,
      epoch: this.#epoch,
      expectedSeq: this.#seq,
      events: [{ seq: this.#seq + 1, at: Date.now(), event }],
      writes: [text],
      commandIds: [],
      outcomes: [],
      hasWork: true,
    });
    this.#seq += 1;
  }
}
