import { createHash, randomBytes } from "node:crypto";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import pg from "pg";
import { delay } from "../../src/base/deferred.ts";
import { BenchFixture, type BenchUser } from "./bench-fixture.ts";
import type { BenchRow, BenchScale } from "./row.ts";

const SESSIONS = 2_000;
/** Of each session: so many chunks of sound, and as many segments of some words. */
const CHUNKS = 3;
const SOUND_BYTES = 32_000;
const WORDS = 12;
/** Of the sessions those of the workspace that has few, in percent; the others are one workspace's. */
const FEW_PERCENT = 5;
const POLL_MS = 250;
const LONGEST_MS = 30 * 60_000;
const MARK = { anHour: 20_000, share: 0.25 };

/**
 * How many sessions an hour retention erases on one machine, with their words, their files and their
 * lines in the ledger, while one session is held by a transaction that somebody forgot; and how much of
 * it a workspace with few sessions waits for, whose neighbour has the other ones.
 */
export async function measureRetention(scale: BenchScale): Promise<BenchRow[]> {
  const fixture = await BenchFixture.open();
  try {
    // The first start takes the folder for this database.
    await (await fixture.startMain("front,sessions")).stop();
    const count = Math.round(SESSIONS * scale.size);
    const few = Math.round((count * FEW_PERCENT) / 100);
    const [many, modest] = [await fixture.addUser(), await fixture.addUser()];
    await fill(fixture, many, count - few, 9);
    await fill(fixture, modest, few, 8);
    await fixture.owner.query("update workspaces set retention_days = 1");
    await fixture.owner.query("analyze");
    return await measure(fixture, modest, { count, few });
  } finally {
    await fixture.close();
  }
}

async function fill(
  fixture: BenchFixture,
  user: BenchUser,
  count: number,
  daysAgo: number,
): Promise<void> {
  const { rows } = await fixture.owner.query<{ id: string }>(
    `insert into sessions (id, workspace_id, owner_id, job_id, title, status, started_at, stopped_at)
     select gen_random_uuid(), $1, $2, gen_random_uuid(), 'Call ' || n, 'completed',
       now() - make_interval(days => $4), now() - make_interval(days => $4, secs => n)
     from generate_series(1, $3::int) n returning id`,
    [user.workspaceId, user.id, count, daysAgo],
  );
  const sound = randomBytes(SOUND_BYTES);
  const sha256 = createHash("sha256").update(sound).digest("hex");
  const ids = rows.map(({ id }) => id);
  for (const id of ids) {
    const folder = join(fixture.blobFolder, id);
    mkdirSync(folder, { mode: 0o700 });
    writeFileSync(join(folder, sha256), sound, { mode: 0o600 });
  }
  await fixture.owner.query(
    `insert into chunks (session_id, sequence, id, media_type, bytes, sha256, frames, sample_rate,
       duration_seconds, status, start_sample, length_samples)
     select id, n, gen_random_uuid(), 'audio/pcm', $3::int, decode($2, 'hex'), 16000, 16000, 1,
       'completed', n * 16000, 16000
     from unnest($1::uuid[]) id, generate_series(0, $4::int - 1) n`,
    [ids, sha256, SOUND_BYTES, CHUNKS],
  );
  const words = Array.from({ length: WORDS }, (_, n) => ({
    ...{ text: "budget", start: n * 1_000, end: n * 1_000 + 900, confidence: 0.9 },
  }));
  await fixture.owner.query(
    `insert into segments (session_id, id, attempt, start_sample, end_sample, label, text, words,
       confidence, language)
     select id, gen_random_uuid(), 1, n * 16000, (n + 1) * 16000, 'S1', repeat('budget ', $3::int),
       $2::jsonb, 0.9, 'en'
     from unnest($1::uuid[]) id, generate_series(0, $4::int - 1) n`,
    [ids, JSON.stringify(words), WORDS, CHUNKS],
  );
}

async function measure(
  fixture: BenchFixture,
  modest: BenchUser,
  { count, few }: { count: number; few: number },
): Promise<BenchRow[]> {
  const forgotten = new pg.Client({ connectionString: fixture.database.ownerUrl });
  await forgotten.connect();
  await forgotten.query("begin");
  await forgotten.query(
    `select from sessions where id = (select id from sessions order by stopped_at limit 1) for update`,
  );
  const main = await fixture.startMain("front,sessions");
  const begun = performance.now();
  try {
    let whenFewWereGone: number | undefined;
    let state = await look(fixture, modest);
    while (state.finished < count - 1 && performance.now() - begun < LONGEST_MS) {
      await delay(POLL_MS);
      state = await look(fixture, modest);
      if (state.few === few) whenFewWereGone ??= state.erased;
    }
    const seconds = (performance.now() - begun) / 1_000;
    return rowsOf({ count, few, seconds, state, whenFewWereGone });
  } finally {
    await forgotten.query("rollback");
    await forgotten.end();
    await main.stop();
  }
}

interface Erased {
  /** Sessions whose words are gone. */
  erased: number;
  /** Those whose files are gone as well, and which the ledger has. */
  finished: number;
  /** Of the workspace with few sessions. */
  few: number;
}

async function look({ owner }: BenchFixture, { workspaceId }: BenchUser): Promise<Erased> {
  const { rows } = await owner.query<Erased>(
    `select count(*)::int as erased, count(audio_erased_at)::int as finished,
       (count(*) filter (where workspace_id = $1))::int as few
     from deletion_receipts`,
    [workspaceId],
  );
  return rows[0] ?? { erased: 0, finished: 0, few: 0 };
}

interface Measured {
  count: number;
  few: number;
  seconds: number;
  state: Erased;
  whenFewWereGone: number | undefined;
}

function rowsOf({ count, few, seconds, state, whenFewWereGone }: Measured): BenchRow[] {
  const anHour = (state.finished / seconds) * 3_600;
  const share = (whenFewWereGone ?? Number.POSITIVE_INFINITY) / count;
  const isWhole = state.finished === count - 1;
  const held = isWhole ? "all but the one that is held" : `only ${state.finished}`;
  return [
    {
      figure: `retention: sessions of ${CHUNKS} chunks erased with words, files and ledger`,
      unit: "sessions/hour",
      ours: anHour,
      mark: `>= ${MARK.anHour.toLocaleString("en")} sessions/hour`,
      met: isWhole && anHour >= MARK.anHour,
      detail: `${held} of ${count}, in ${seconds.toFixed(1)} s`,
    },
    {
      figure: `retention: of all sessions those gone when a workspace of ${few} was done`,
      unit: "share",
      ours: share,
      mark: `<= ${MARK.share}`,
      met: share <= MARK.share,
      detail: `beside a workspace of ${count - few} that are a day older`,
    },
  ];
}
