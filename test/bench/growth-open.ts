import { delay } from "../../src/base/deferred.ts";
import { errorMessage } from "../../src/base/errors.ts";
import { until } from "../support/until.ts";
import { cloneSession } from "./growth-clones.ts";
import { GrowthDevice } from "./growth-device.ts";
import { GrowthFigures } from "./growth-figures.ts";
import { GrowthFixture } from "./growth-fixture.ts";
import { lookedAt, lookRounds } from "./growth-looks.ts";
import { idleRounds, speakRound } from "./growth-rounds.ts";
import { takeoverRound } from "./growth-takeover.ts";
import { profiled } from "./process-profile.ts";
import type { BenchRow, BenchScale } from "./row.ts";

const OPEN = [10, 1_000, 10_000];
const OPEN_QUICK = [10, 300];
const SPEAKING = 10;
const FINALS_EACH = 20;
/** Hosts killed of each size; to share ten thousand sessions and to take them over lasts minutes. */
const FULL_KILLS = 2;
const POLL_MS = 250;
const SETTLE_MS = 900_000;
/** A worker's place is given up when nothing came for 20 s. */
const REST_MS = 25_000;
/** With `--profile`. */
const PROFILED_MS = 10_000;

const OPEN_AXIS = "open sessions";

interface Stage {
  size: string;
  fixture: GrowthFixture;
  speaking: GrowthDevice[];
  /** It takes no further part. */
  failed: boolean;
}

/** The same final and look while ever more sessions are open, what these cost by themselves, and the takeover of all. */
export async function measureOpen(rounds: number, scale: BenchScale): Promise<BenchRow[]> {
  const counts = scale.size < 1 ? OPEN_QUICK : OPEN;
  const sizes = counts.map((count) => `${count.toLocaleString("en")} open`);
  const figures = new GrowthFigures(OPEN_AXIS, sizes);
  const stages: Stage[] = [];
  try {
    for (const [n, count] of counts.entries()) {
      stages.push(await openSessions(sizes[n] ?? "", count));
    }
    await delay(REST_MS);
    const idle = await idleRounds(figures, stages, rounds, scale);
    process.stderr.write("  idle measured\n");
    await profileIdle(stages.at(-1));
    for (let round = 0; round <= rounds; round += 1) {
      for (const [n, stage] of stages.entries()) {
        await attempt(stage, "speakers", () =>
          speakRound(figures, stage, FINALS_EACH, idle[n], round > 0),
        );
      }
    }
    process.stderr.write("  finals measured\n");
    const looked = await Promise.all(
      stages
        .map((stage, n) => ({ ...stage, idle: idle[n] }))
        .filter(({ failed }) => !failed)
        .map((at) => lookedAt(at.fixture, at.size, at.speaking[0]?.sessionId ?? "", at.idle)),
    );
    await lookRounds(figures, looked, rounds, scale);
    process.stderr.write("  looks measured\n");
    const kills = scale.size < 1 ? rounds : FULL_KILLS;
    for (let kill = 0; kill < kills; kill += 1) {
      for (const stage of stages) {
        await attempt(stage, "takeover", () => takeoverRound(figures, stage));
      }
    }
    return figures.rows();
  } finally {
    await Promise.allSettled(stages.map(({ fixture }) => fixture.close()));
  }
}

async function profileIdle(stage: Stage | undefined): Promise<void> {
  if (process.env.BENCH_PROFILE === undefined || stage === undefined) return;
  await profiled(stage.fixture.main.pid, `idle, ${stage.size}`, () => delay(PROFILED_MS));
}

/** What a size cannot do is told once, and the figures of the others stand. */
async function attempt(stage: Stage, what: string, work: () => Promise<void>): Promise<void> {
  if (stage.failed) return;
  try {
    await work();
  } catch (error) {
    stage.failed = true;
    const { size, fixture } = stage;
    process.stderr.write(`  ${size}, ${what}: ${errorMessage(error)}; ${fixture.complaints}\n`);
  }
}

/** Each has a device of its own that sent one chunk and is silent since; most are copies of one. */
async function openSessions(size: string, count: number): Promise<Stage> {
  const fixture = await GrowthFixture.open();
  const begun = performance.now();
  const speaking: GrowthDevice[] = [];
  try {
    for (let n = 0; n < SPEAKING; n += 1) {
      const device = await GrowthDevice.start(fixture);
      await device.feed(1);
      speaking.push(device);
    }
    const sessions = speaking.map(({ sessionId }) => sessionId);
    const template = sessions[0] ?? "";
    if (count > SPEAKING) {
      await fixture.stopMain();
      const clones = await cloneSession(fixture, template, count - SPEAKING);
      const epoch = await epochOf(fixture, template);
      await fixture.startMain();
      await allTakenUp(fixture, clones, epoch);
    }
    const took = (performance.now() - begun) / 1_000;
    process.stderr.write(`  ${count} sessions opened in ${took.toFixed(1)} s\n`);
    return { size, fixture, speaking, failed: false };
  } catch (error) {
    await fixture.close();
    throw error;
  }
}

/** The copies had the epoch of what they are copies of; a host raises it. */
async function allTakenUp(
  fixture: GrowthFixture,
  sessions: readonly string[],
  epoch: number,
): Promise<void> {
  let next = 0;
  const isTakenUp = async () => {
    if (performance.now() < next) return false;
    next = performance.now() + POLL_MS;
    const { rows } = await fixture.fixture.owner.query<{ left: number }>(
      `select count(*)::int as left from sessions where id = any($1) and epoch <= $2`,
      [sessions, epoch],
    );
    return rows[0]?.left === 0;
  };
  await until(isTakenUp, "a host to take up all sessions", SETTLE_MS);
}

async function epochOf(fixture: GrowthFixture, sessionId: string): Promise<number> {
  const { rows } = await fixture.fixture.owner.query<{ epoch: number }>(
    "select epoch::int as epoch from sessions where id = $1",
    [sessionId],
  );
  return rows[0]?.epoch ?? 0;
}
