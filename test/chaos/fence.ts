import pg from "pg";
import { newId } from "../../src/base/ids.ts";
import { until } from "../support/until.ts";
import type { FenceCut, FenceFault } from "./fence-faults.ts";
import { FenceHost } from "./fence-host.ts";
import { FenceLedger } from "./fence-ledger.ts";

export interface FenceOptions {
  /** Owners that are stopped with SIGSTOP past their lease, one after another. */
  rounds: number;
  /** One round for each, after those. */
  cuts?: readonly FenceCut[];
  cutMs?: number;
  /** As the service role sees it, migrated. */
  databaseUrl: string;
  /** To make sessions with. */
  ownerUrl: string;
  leaseMs?: number;
  say?: (line: string) => void;
}

export interface FenceResult {
  rounds: number;
  /** Writes of owners put out of action that reached the journal and were refused there as stale. */
  refused: number;
  /** Events that were answered as durable. */
  stored: number;
  /** Most changes of the writing owner that a session saw in one round, by fault. */
  changes: Partial<Record<FenceFault, number>>;
  /** What is not as it should be; empty when one writer wrote at a time. */
  problems: string[];
}

const SESSIONS = 6;
const STEP_MS = 180_000;
const BITE_MS = 10_000;
const CUT_MS = 65_000;
/** Away from the owner that is hit, and back to it when it is there again. */
const CHANGES_PER_FAULT = 2;

/**
 * Two real processes own the same sessions' partitions by leases and never stop
 * writing. Again and again one is put out of action past its lease, the other takes over, and the
 * first goes on with writes under way.
 */
export async function runFence(options: FenceOptions): Promise<FenceResult> {
  const client = new pg.Client({ connectionString: options.ownerUrl });
  await client.connect();
  try {
    return await disturb(client, options);
  } finally {
    await client.end();
  }
}

async function disturb(client: pg.Client, options: FenceOptions): Promise<FenceResult> {
  const sessions = await makeSessions(client);
  const ledger = new FenceLedger(client);
  const { databaseUrl, leaseMs = 1_000, rounds, cuts = [] } = options;
  const shared = { databaseUrl, leaseMs, sessions };
  const first = await FenceHost.start({ ...shared, name: "fence-a" }, ledger);
  const second = await FenceHost.start({ ...shared, name: "fence-b" }, ledger);
  try {
    for (let round = 0, bitten = 0; bitten < rounds; round += 1) {
      const [victim, other] = await whoOwns(inTurn(first, second, round), sessions.length);
      await ledger.beginRound("stop");
      // Every second time with statements still on their way, which PostgreSQL gets afterwards.
      const isLate = round % 2 === 1;
      if (await stopOnce(victim, other, sessions.length, isLate)) bitten += 1;
      else if (round > 2 * rounds) throw new Error("Hardly any owner was stopped while it wrote.");
      options.say?.(`${bitten}: ${victim.name} stopped, ${victim.fenced} refused in all`);
    }
    for (const [round, fault] of cuts.entries()) {
      const [victim, other] = await whoOwns(inTurn(first, second, round), sessions.length);
      await ledger.beginRound(fault);
      const told = await cutOnce(fault, victim, other, sessions.length, options.cutMs ?? CUT_MS);
      options.say?.(`${victim.name} ${told}`);
    }
  } finally {
    await Promise.all([first.stop(), second.stop()]);
  }
  const problems = [...first.problems, ...second.problems, ...(await ledger.verify())];
  const changes = await ledger.changes();
  for (const [fault, most] of Object.entries(changes)) {
    if (most <= CHANGES_PER_FAULT) continue;
    problems.push(`${fault}: a session changed its owner ${most} times in one round`);
  }
  const refused = first.fenced + second.fenced;
  return { rounds, refused, stored: ledger.stored, changes, problems };
}

function inTurn(first: FenceHost, second: FenceHost, round: number): [FenceHost, FenceHost] {
  return round % 2 === 0 ? [first, second] : [second, first];
}

/** The first of the pair, unless all sessions lie in the other's half of the partitions. */
async function whoOwns(
  [one, other]: [FenceHost, FenceHost],
  sessions: number,
): Promise<[FenceHost, FenceHost]> {
  const areOwned = () => one.owned.length + other.owned.length === sessions;
  await until(areOwned, "all sessions to be owned by one of the two", STEP_MS);
  return one.owned.length > 0 ? [one, other] : [other, one];
}

async function writes(owner: FenceHost): Promise<void> {
  const before = owner.stored;
  await until(() => owner.stored > before + 20, `${owner.name} to write`, STEP_MS);
}

async function writesWhatItOwns(owner: FenceHost): Promise<void> {
  const before = owner.stored;
  const does = () => owner.owned.length === 0 || owner.stored > before + 20;
  await until(does, `${owner.name} to write what it owns`, STEP_MS);
}

/** False when the victim had just handed over everything and had nothing to write. */
async function stopOnce(
  victim: FenceHost,
  other: FenceHost,
  sessions: number,
  isLate: boolean,
): Promise<boolean> {
  await writes(victim);
  const { turnedAway } = victim;
  if (isLate) await victim.holdBack();
  victim.signal("SIGSTOP");
  await until(() => other.owned.length === sessions, `${other.name} to take over`, STEP_MS);
  await writes(other);
  if (isLate) await victim.letThrough();
  victim.signal("SIGCONT");
  // The journal refuses what reaches it; the rest ends with a transaction that stood still too long.
  const hasBitten = await holds(() => victim.turnedAway > turnedAway);
  // Each that has any now: the stopped one comes back for its share, which may be all of them.
  await Promise.all([victim, other].map(writesWhatItOwns));
  return hasBitten;
}

function holds(condition: () => boolean): Promise<boolean> {
  return until(condition, "writes under way to come to nothing", BITE_MS).then(
    () => true,
    () => false,
  );
}

/** Says what it saw; that the cut did nothing is a problem of its own. */
async function cutOnce(
  fault: FenceCut,
  victim: FenceHost,
  other: FenceHost,
  sessions: number,
  ms: number,
): Promise<string> {
  await writes(victim);
  const { turnedAway, fenced, stored } = victim;
  const cut = victim.cut(fault, ms);
  if (fault !== "postgres") {
    // With its lease gone, whatever it still believes.
    await until(() => other.owned.length === sessions, `${other.name} to take over`, ms);
    await writes(other);
  }
  const bite = await cut;
  const during = victim.stored - stored;
  if (!bite) victim.problems.push(`${fault}: the cut never bit`);
  const hasBitten = await holds(() => victim.turnedAway > turnedAway);
  if (!hasBitten) victim.problems.push(`${fault}: no write of ${victim.name} came to nothing`);
  await whoOwns([victim, other], sessions);
  await Promise.all([victim, other].map(writesWhatItOwns));
  return `${fault} for ${ms} ms: stored ${during}, ${victim.fenced - fenced} refused as stale, ${victim.turnedAway - turnedAway} turned away`;
}

async function makeSessions(client: pg.Client): Promise<string[]> {
  const user = newId();
  const workspace = newId();
  await client.query(
    "insert into users (id, email, name, role) values ($1, $2, 'Fence', 'participant')",
    [user, `${user}@voice.test`],
  );
  await client.query("insert into workspaces (id, name) values ($1, 'Fence')", [workspace]);
  const ids: string[] = [];
  for (let n = 0; n < SESSIONS; n += 1) {
    const id = newId();
    const job = newId();
    await client.query(
      `insert into sessions (id, workspace_id, owner_id, job_id, status)
       values ($1, $2, $3, $4, 'recording')`,
      [id, workspace, user, job],
    );
    await client.query(
      "insert into jobs (id, kind, session_id, workspace_id, status) values ($1, 'transcription', $2, $3, 'queued')",
      [job, id, workspace],
    );
    await client.query(
      `insert into events (session_id, seq, epoch, at, type, payload)
       values ($1, 1, 0, now(), 'SessionStarted', $2)`,
      [id, { type: "SessionStarted", sessionId: id, jobId: job, language: "en" }],
    );
    await client.query("update sessions set seq = 1 where id = $1", [id]);
    ids.push(id);
  }
  return ids;
}
