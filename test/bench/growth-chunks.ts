import type pg from "pg";
import { withClient } from "../../deploy/supervisor/postgres/roles.ts";
import { errorMessage } from "../../src/base/errors.ts";
import { newId } from "../../src/base/ids.ts";
import { populate } from "../support/plan-population.ts";
import { GrowthDevice } from "./growth-device.ts";
import { GrowthFigures } from "./growth-figures.ts";
import { GrowthFixture } from "./growth-fixture.ts";
import { lookedAt, lookRounds } from "./growth-looks.ts";
import { idleRounds, speakRound } from "./growth-rounds.ts";
import type { BenchRow, BenchScale } from "./row.ts";

/** Of each stored session. */
const CHUNKS = 1_000;
/** In all; `BENCH_GROWTH_CHUNKS=100000,1000000` gives others. */
const STORED = [100_000, 10_000_000];
const STORED_QUICK = [10_000, 100_000];
const SPEAKING = 10;
const FINALS_EACH = 20;

const CHUNKS_AXIS = "stored chunks";

/** The same final and look, and the sweeps, beside ever more that was recorded before. */
export async function measureStored(rounds: number, scale: BenchScale): Promise<BenchRow[]> {
  const wanted = process.env.BENCH_GROWTH_CHUNKS?.split(",").map(Number);
  const populations = (wanted ?? (scale.size < 1 ? STORED_QUICK : STORED)).map((chunks) => ({
    size: `${chunks.toLocaleString("en")} chunks`,
    sessions: Math.ceil(chunks / CHUNKS),
  }));
  const figures = new GrowthFigures(
    CHUNKS_AXIS,
    populations.map(({ size }) => size),
  );
  const stages: Awaited<ReturnType<typeof openOver>>[] = [];
  try {
    for (const population of populations) stages.push(await openOver(population));
    const idle = await idleRounds(figures, stages, rounds, scale);
    for (let round = 0; round <= rounds; round += 1) {
      for (const [n, stage] of stages.entries()) {
        await speakRound(figures, stage, FINALS_EACH, idle[n], round > 0);
      }
    }
    // After a quarter of an hour of filling, one figure that is missing takes no other with it.
    await lookAtAll(figures, stages, rounds, scale).catch((error: unknown) => {
      process.stderr.write(`  no looks: ${errorMessage(error)}\n`);
    });
    return figures.rows();
  } finally {
    await Promise.allSettled(stages.map(({ fixture }) => fixture.close()));
  }
}

async function lookAtAll(
  figures: GrowthFigures,
  stages: readonly { fixture: GrowthFixture; size: string; stored: string }[],
  rounds: number,
  scale: BenchScale,
): Promise<void> {
  const looked = await Promise.all(
    stages.map(({ fixture, size, stored }) => lookedAt(fixture, size, stored)),
  );
  await lookRounds(figures, looked, rounds, scale);
}

/** A house whose record was filled before it started; its user belongs to the workspace of all that. */
async function openOver({ size, sessions }: { size: string; sessions: number }) {
  let workspaceId = "";
  const stored = newId();
  const fixture = await GrowthFixture.open(async ({ fixture: { adminUrl } }) => {
    const begun = performance.now();
    const wish = { sessions, chunks: CHUNKS, commands: 0 };
    workspaceId = (await populate(adminUrl, wish)).workspaceId;
    await withClient(adminUrl, (client) => rename(client, stored));
    const took = (performance.now() - begun) / 1_000;
    process.stderr.write(`  ${size} filled in ${took.toFixed(1)} s\n`);
  });
  try {
    const { owner } = fixture.fixture;
    await owner.query(
      "insert into workspace_members (workspace_id, user_id, role) values ($1, $2, 'owner')",
      [workspaceId, fixture.user.id],
    );
    await owner.query("update sessions set owner_id = $1 where id = $2", [fixture.user.id, stored]);
    const speaking: GrowthDevice[] = [];
    for (let n = 0; n < SPEAKING; n += 1) {
      const device = await GrowthDevice.start(fixture);
      await device.say();
      device.unfollow();
      speaking.push(device);
    }
    return { size, fixture, speaking, stored };
  } catch (error) {
    await fixture.close();
    throw error;
  }
}

/** One that has segments gets an id as the service gives them: others are none to its interface. */
async function rename(client: pg.Client, id: string): Promise<void> {
  await client.query("set session_replication_role = replica");
  const { rows } = await client.query<{ id: string }>(
    "select id from sessions where partition_of(id) % 4 = 0 order by id limit 1",
  );
  const old = rows[0]?.id;
  await client.query("update sessions set id = $1 where id = $2", [id, old]);
  for (const table of ["jobs", "chunks", "events", "segments"]) {
    await client.query(`update ${table} set session_id = $1 where session_id = $2`, [id, old]);
  }
}
