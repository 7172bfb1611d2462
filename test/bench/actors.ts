import { Activation } from "../../src/actor/activation.ts";
import type { Journal } from "../../src/actor/journal.ts";
import { newId } from "../../src/base/ids.ts";
import { silentLog } from "../../src/base/log.ts";
import { systemRuntime } from "../../src/base/runtime.ts";
import { SessionJournal } from "../../src/journal/session-journal.ts";
import { createPool } from "../../src/postgres/pool.ts";
import { sessionBehaviour } from "../../src/session/behaviour.ts";
import type { SessionCommand } from "../../src/session/command.ts";
import type { SessionEvent } from "../../src/session/event.ts";
import type { SessionState } from "../../src/session/state.ts";
import type { SessionWrite } from "../../src/session/write.ts";
import { SECOND, SessionBench, segment } from "../support/session-bench.ts";
import { BenchFixture } from "./bench-fixture.ts";
import type { BenchRow, BenchScale } from "./row.ts";
import { growthExponent, median, quantile } from "./statistics.ts";

type SessionActor = Activation<SessionState, SessionEvent, SessionWrite, SessionCommand>;
type Record = Journal<SessionEvent, SessionWrite>;

const TURNS_MARK = 200_000;
const COLD_MARK_MS = 20;
const ACTORS = 1_000;
const HISTORY = 500;
const COLD_SESSIONS = 200;

/** Turns of session actors whose journal costs nothing, and the waking of one that sleeps in PostgreSQL. */
export async function measureActors(scale: BenchScale): Promise<BenchRow[]> {
  const turns: number[] = [];
  for (let round = 0; round <= scale.rounds; round += 1) {
    const figure = await turnsPerSecond(scale.roundMs);
    if (round > 0) turns.push(figure);
  }
  const figure = median(turns);
  return [
    {
      figure: "actor turns in memory",
      unit: "turns per CPU second",
      ours: figure,
      mark: `>= ${TURNS_MARK.toLocaleString("en")}`,
      met: figure >= TURNS_MARK,
      detail: `${ACTORS} actors of the session domain, one command under way for each, so that every turn decides, appends to a journal in memory and answers once`,
    },
    ...(await measureCold(scale)),
  ];
}

async function turnsPerSecond(ms: number): Promise<number> {
  const fresh = { epoch: 1, seq: 0, hasWork: true, snapshot: undefined, events: [], outcomes: [] };
  const load = async () => ({ now: Date.now(), ...fresh });
  const journal: Record = {
    activate: load,
    load,
    append: async () => ({ now: Date.now() }),
  };
  const actors = await Promise.all(Array.from({ length: ACTORS }, () => wake(newId(), journal)));
  for (const actor of actors)
    await actor.ask({ type: "Start", jobId: newId(), language: "en" }, "");
  const start = performance.now();
  const cpu = process.cpuUsage();
  let turns = 0;
  let running = true;
  // Asked by the turns themselves: a timer would wait for ever, since they are made of microtasks.
  const goOn = () => {
    turns += 1;
    if (turns % 1_024 === 0) running = performance.now() - start < ms;
    return running;
  };
  const work = actors.map(async (actor) => {
    for (let finalisedTo = SECOND; goOn(); finalisedTo += SECOND) {
      await actor.ask({ type: "Progress", attempt: 1, finalisedTo }, "");
    }
  });
  await Promise.all(work);
  const used = process.cpuUsage(cpu);
  const figure = (turns * 1e6) / (used.user + used.system);
  await Promise.all(actors.map((actor) => actor.stop()));
  return figure;
}

async function measureCold(scale: BenchScale): Promise<BenchRow[]> {
  const fixture = await BenchFixture.open();
  const pool = await createPool(fixture.database.serviceUrl, { maximumPoolSize: 4 });
  try {
    const journal = new SessionJournal(pool);
    const owner = await fixture.addUser();
    const points = [];
    let rows: BenchRow[] = [];
    for (const events of [HISTORY / 4, HISTORY, HISTORY * 4]) {
      const count = Math.ceil((COLD_SESSIONS * scale.size) / (events > HISTORY ? 4 : 1));
      const delays: number[] = [];
      for (let session = 0; session < count; session += 1) {
        const id = await fixture.addSession(owner);
        await writeHistory(fixture, id, events);
        const start = performance.now();
        const actor = await wake(id, journal);
        delays.push(performance.now() - start);
        await actor.stop();
      }
      points.push({ work: events, cost: median(delays) });
      if (events === HISTORY) rows = [cold(delays)];
    }
    return [...rows, growth(points)];
  } finally {
    await pool.end();
    await fixture.close();
  }
}

function cold(delays: readonly number[]): BenchRow {
  const p99 = quantile(delays, 0.99);
  return {
    figure: `cold activation p99, ${HISTORY} events`,
    unit: "ms",
    ours: p99,
    mark: `<= ${COLD_MARK_MS} ms`,
    met: p99 <= COLD_MARK_MS,
    detail: `${delays.length} sessions without a snapshot, one after the other; p50 ${median(delays).toFixed(1)} ms; the commit that raises the epoch is in it`,
  };
}

function growth(points: readonly { work: number; cost: number }[]): BenchRow {
  const exponent = growthExponent(points);
  return {
    figure: "cold activation at 1x, 4x, 16x the history",
    unit: "exponent",
    ours: exponent,
    mark: "<= 1.1",
    met: exponent <= 1.1,
    detail: points.map(({ work, cost }) => `${work} events ${cost.toFixed(1)} ms`).join(", "),
  };
}

async function wake(id: string, journal: Record): Promise<SessionActor> {
  const actor: SessionActor = new Activation(id, {
    behaviour: sessionBehaviour,
    journal,
    createEffects: () => [],
    runtime: systemRuntime,
    log: silentLog,
    mailboxCapacity: 1_024,
    batchSize: 64,
    snapshotEvery: Number.POSITIVE_INFINITY,
    onRefused: () => {},
    appendAttempts: 1,
    onFailed: (_id, error) => {
      throw error;
    },
  });
  await actor.start();
  return actor;
}

/** Chunks of 2 s and what was said in them, until there are as many events. */
function talk(events: number): SessionEvent[] {
  const bench = new SessionBench().start();
  for (let chunk = 0; bench.events.length < events; chunk += 1) {
    bench.chunk(chunk);
    const start = chunk * 2 * SECOND;
    bench.utterance([segment(start, start + SECOND, chunk % 4)], start + 2 * SECOND);
  }
  return bench.events.slice(0, events);
}

async function writeHistory(fixture: BenchFixture, id: string, count: number): Promise<void> {
  const events = talk(count);
  await fixture.owner.query(
    `insert into events (session_id, seq, epoch, at, type, payload)
     select $1, e.seq, 0, now(), e.payload->>'type', e.payload
     from unnest($2::jsonb[]) with ordinality as e (payload, seq)`,
    [id, events.map((event) => JSON.stringify(event))],
  );
  await fixture.owner.query("update sessions set seq = $2 where id = $1", [id, count]);
}
