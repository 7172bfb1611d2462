import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import pg from "pg";
import { newId } from "../../src/base/ids.ts";
import { partitionOf } from "../../src/base/partition.ts";
import { until } from "../support/until.ts";
import type { OwnerNews, OwnerSettings } from "./fence-owner.ts";

export interface FenceOptions {
  /** Owners that are stopped with SIGSTOP past their lease, one after another. */
  rounds: number;
  /** As the service role sees it, migrated. */
  databaseUrl: string;
  /** To make sessions with. */
  ownerUrl: string;
  natsUrl: string;
  natsToken: string;
  leaseMs?: number;
  say?: (line: string) => void;
}

export interface FenceResult {
  rounds: number;
  /** Writes of stopped owners that reached the journal and were refused there as stale. */
  refused: number;
  /** Events that were answered as durable. */
  stored: number;
  /** What is not as it should be; empty when one writer wrote at a time. */
  problems: string[];
}

const SESSIONS = 6;
const STEP_MS = 60_000;
const BITE_MS = 10_000;

class Owner {
  readonly name: string;
  readonly #child: ChildProcess;
  owned: string[] = [];
  fenced = 0;
  stored = 0;
  turnedAway = 0;

  constructor(settings: OwnerSettings, onNews: (news: OwnerNews) => void) {
    this.name = settings.name;
    this.#child = fork(join(import.meta.dirname, "fence-owner.ts"), {
      env: { ...process.env, FENCE_OWNER: JSON.stringify(settings) },
      stdio: ["ignore", "inherit", "inherit", "ipc"],
    });
    this.#child.on("message", (news: OwnerNews) => {
      if (news.kind === "figures") Object.assign(this, news);
      else onNews(news);
    });
  }

  signal(signal: "SIGSTOP" | "SIGCONT"): void {
    this.#child.kill(signal);
  }

  async stop(): Promise<void> {
    this.#child.kill("SIGCONT");
    if (this.#child.exitCode !== null) return;
    const exited = once(this.#child, "exit");
    this.#child.kill("SIGKILL");
    await exited;
  }
}

/**
 * Two real processes own the same sessions' partitions by leases over NATS and
 * never stop writing. Again and again one is stopped past its lease, the other
 * takes over, and the first goes on with writes under way.
 */
export async function runFence(options: FenceOptions): Promise<FenceResult> {
  const client = new pg.Client({ connectionString: options.ownerUrl });
  await client.connect();
  try {
    return await stopOwners(client, options);
  } finally {
    await client.end();
  }
}

async function stopOwners(client: pg.Client, options: FenceOptions): Promise<FenceResult> {
  const sessions = await makeSessions(client);
  const stored = new Map<string, string>();
  const refused = new Map<string, string>();
  const onNews = (news: OwnerNews): void => {
    if (news.kind === "stored") stored.set(news.id, news.sessionId);
    if (news.kind === "refused") refused.set(news.id, news.sessionId);
  };
  const { databaseUrl, natsUrl, natsToken, leaseMs = 1_000, rounds } = options;
  const shared = { databaseUrl, natsUrl, natsToken, leaseMs, sessions };
  const first = new Owner({ ...shared, name: "fence-a" }, onNews);
  const second = new Owner({ ...shared, name: "fence-b" }, onNews);
  try {
    for (let round = 0, bitten = 0; bitten < rounds; round += 1) {
      const pair: [Owner, Owner] = round % 2 === 0 ? [first, second] : [second, first];
      const [victim, other] = await whoOwns(pair, sessions.length);
      if (await playRound(victim, other, sessions)) bitten += 1;
      else if (round > 2 * rounds) throw new Error("Hardly any owner was stopped while it wrote.");
      options.say?.(`${bitten}: ${victim.name} stopped, ${victim.fenced} refused in all`);
    }
  } finally {
    await Promise.all([first.stop(), second.stop()]);
  }
  const problems = await verify(client, stored, refused);
  return { rounds, refused: first.fenced + second.fenced, stored: stored.size, problems };
}

/** The first of the pair, unless all sessions lie in the other's half of the partitions. */
async function whoOwns([one, other]: [Owner, Owner], sessions: number): Promise<[Owner, Owner]> {
  const areOwned = () => one.owned.length + other.owned.length === sessions;
  await until(areOwned, "all sessions to be owned by one of the two", STEP_MS);
  return one.owned.length > 0 ? [one, other] : [other, one];
}

async function writesWhatItOwns(owner: Owner): Promise<void> {
  const before = owner.stored;
  const does = () => owner.owned.length === 0 || owner.stored > before + 20;
  await until(does, `${owner.name} to write what it owns`, STEP_MS);
}

/** False when the victim had just handed over everything and had nothing to write. */
async function playRound(victim: Owner, other: Owner, sessions: string[]): Promise<boolean> {
  const writes = async (owner: Owner): Promise<void> => {
    const before = owner.stored;
    await until(() => owner.stored > before + 20, `${owner.name} to write`, STEP_MS);
  };
  await writes(victim);
  const { turnedAway } = victim;
  victim.signal("SIGSTOP");
  const all = () => other.owned.length === sessions.length;
  await until(all, `${other.name} to take over`, STEP_MS);
  await writes(other);
  victim.signal("SIGCONT");
  // The journal refuses what reaches it; the rest ends with a transaction that stood still too long.
  const bit = () => victim.turnedAway > turnedAway;
  const hasBitten = await until(bit, "writes under way to come to nothing", BITE_MS).then(
    () => true,
    () => false,
  );
  // Each that has any now: the stopped one comes back for its share, which may be all of them.
  await Promise.all([victim, other].map(writesWhatItOwns));
  return hasBitten;
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
      `insert into sessions (id, workspace_id, owner_id, job_id, status, partition)
       values ($1, $2, $3, $4, 'recording', $5)`,
      [id, workspace, user, job, partitionOf(id)],
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

/** One writer at a time: epochs never fall, no seq is missing, nothing refused is there. */
async function verify(
  client: pg.Client,
  stored: ReadonlyMap<string, string>,
  refused: ReadonlyMap<string, string>,
): Promise<string[]> {
  const problems: string[] = [];
  const { rows } = await client.query<{ id: string; seq: string; epoch: string; concern?: string }>(
    `select session_id as id, seq, epoch, payload->>'concernId' as concern
     from events order by session_id, seq`,
  );
  const concerns = new Map<string, number>();
  let before: { id: string; seq: number; epoch: number } | undefined;
  for (const { id, seq, epoch, concern } of rows) {
    const at = { id, seq: Number(seq), epoch: Number(epoch) };
    if (before?.id === id && at.seq !== before.seq + 1) problems.push(`gap before ${id} ${seq}`);
    if (before?.id === id && at.epoch < before.epoch) problems.push(`stale write ${id} ${seq}`);
    before = at;
    if (concern) concerns.set(concern, (concerns.get(concern) ?? 0) + 1);
  }
  for (const id of stored.keys()) {
    if (concerns.get(id) !== 1) problems.push(`answered, but there ${concerns.get(id) ?? 0} times`);
  }
  for (const id of refused.keys()) {
    if (concerns.has(id)) problems.push(`refused, but there: ${id}`);
  }
  return problems;
}
