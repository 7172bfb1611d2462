import pg from "pg";
import { newId } from "../../src/base/ids.ts";
import { SessionJournal } from "../../src/journal/session-journal.ts";
import { createPool } from "../../src/postgres/pool.ts";
import type { SegmentText } from "../../src/session/write.ts";
import { BenchFixture } from "./bench-fixture.ts";
import { treeCpuSeconds } from "./process-cpu.ts";
import { interleave, medianRatio } from "./rounds.ts";
import type { BenchRow, BenchScale } from "./row.ts";
import { median } from "./statistics.ts";

const MARK = 50;
/** Utterances of one turn of the actor, and a second reading that replaces an hour or so at once. */
const TURNS = [64, 1000];

interface Stage {
  /** PostgreSQL's first process. */
  postgres: number;
  journal: SessionJournal;
  client: pg.Client;
  sessionId: string;
  /** Seq of the newest event. */
  seq: number;
  epoch: number;
  /** Where the next segment starts. */
  position: number;
}

/** Final segments with their words through the journal, against one awaited insert for each. */
export async function measureSegments(scale: BenchScale): Promise<BenchRow[]> {
  const fixture = await BenchFixture.open();
  const pool = await createPool(fixture.database.serviceUrl, { maximumPoolSize: 2 });
  const client = new pg.Client({ connectionString: fixture.database.serviceUrl });
  await client.connect();
  try {
    const sessionId = await fixture.addSession(await fixture.addUser());
    const journal = new SessionJournal(pool);
    const loaded = await journal.activate(sessionId);
    if (loaded === undefined) throw new Error("The session is not there.");
    const { epoch, seq } = loaded;
    const postgres = await fixture.postgresPid();
    const stage: Stage = { postgres, journal, client, sessionId, seq, epoch, position: 0 };
    const rows: BenchRow[] = [];
    for (const size of TURNS) rows.push(await measureTurns(stage, size, scale));
    return rows;
  } finally {
    await client.end();
    await pool.end();
    await fixture.close();
  }
}

async function measureTurns(stage: Stage, size: number, scale: BenchScale): Promise<BenchRow> {
  const costs: Record<"ours" | "peer", Cost[]> = { ours: [], peer: [] };
  const metered = async (name: "ours" | "peer", each: number, work: () => Promise<void>) => {
    const { figure, cost } = await perSecond(stage, each, scale.roundMs, work);
    costs[name].push(cost);
    return figure;
  };
  const figures = await interleave(scale.rounds, {
    ours: () => metered("ours", size, () => appendTurn(stage, size)),
    peer: () => metered("peer", 1, () => insertOne(stage)),
  });
  const ratio = medianRatio(figures.ours, figures.peer);
  return {
    figure: `segments written, ${size} in a turn`,
    unit: "segments/s",
    ours: median(figures.ours),
    peer: { name: "pg, one awaited insert each", value: median(figures.peer) },
    ratio,
    mark: `>= ${MARK}x`,
    met: ratio >= MARK,
    detail: `ours with the fence, one event for each segment, its projections and one commit for all; the peer's insert is prepared; CPU of each: ours ${costOf(costs.ours)}, the peer's ${costOf(costs.peer)}`,
  };
}

/** CPU of one segment, microseconds. */
interface Cost {
  process: number;
  database: number;
}

async function perSecond(
  { postgres }: Stage,
  each: number,
  ms: number,
  work: () => Promise<void>,
): Promise<{ figure: number; cost: Cost }> {
  const start = performance.now();
  const cpu = process.cpuUsage();
  const database = treeCpuSeconds(postgres);
  let done = 0;
  while (performance.now() - start < ms) {
    await work();
    done += each;
  }
  const figure = (done * 1000) / (performance.now() - start);
  const { user, system } = process.cpuUsage(cpu);
  const used = (treeCpuSeconds(postgres) - database) * 1e6;
  return { figure, cost: { process: (user + system) / done, database: used / done } };
}

function costOf(costs: readonly Cost[]): string {
  const process = Math.round(median(costs.map((each) => each.process)));
  const database = Math.round(median(costs.map((each) => each.database)));
  return `${process} us in the process and ${database} us in PostgreSQL`;
}

async function appendTurn(stage: Stage, size: number): Promise<void> {
  const writes = Array.from({ length: size }, () => nextSegment(stage));
  const at = Date.now();
  const events = writes.map(({ segmentId, start, end, label }, index) => ({
    seq: stage.seq + index + 1,
    at,
    event: {
      type: "SegmentFinalised" as const,
      segmentId,
      start,
      end,
      label,
      cluster: 0,
      checkpoint: end,
    },
  }));
  await stage.journal.append({
    id: stage.sessionId,
    epoch: stage.epoch,
    expectedSeq: stage.seq,
    events,
    writes,
    commandIds: [],
    outcomes: [],
  });
  stage.seq += size;
}

async function insertOne(stage: Stage): Promise<void> {
  const { segmentId, attempt, start, end, label, words, confidence } = nextSegment(stage);
  const text = words.map((word) => word.text).join(" ");
  await stage.client.query({
    name: "segment",
    text: `insert into segments
      (session_id, id, attempt, start_sample, end_sample, label, text, words, confidence)
      values ($1, $2, $3, $4, $5, $6, $7, $8, $9)`,
    values: [
      stage.sessionId,
      segmentId,
      attempt,
      start,
      end,
      label,
      text,
      JSON.stringify(words),
      confidence,
    ],
  });
}

function nextSegment(stage: Stage): SegmentText {
  const start = stage.position;
  stage.position += 32_000;
  const words = "and then we agreed on thursday morning".split(" ").map((text, index) => ({
    text,
    start: start + index * 4_000,
    end: start + index * 4_000 + 3_500,
    confidence: 0.9,
  }));
  return {
    type: "SegmentText",
    segmentId: newId(),
    attempt: 1,
    start,
    end: start + 30_000,
    label: "S1",
    words,
    confidence: 0.9,
  };
}
