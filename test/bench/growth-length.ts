import { type ActedOn, actorRounds } from "./growth-actor.ts";
import { GrowthDevice } from "./growth-device.ts";
import { GrowthFigures } from "./growth-figures.ts";
import { GrowthFixture } from "./growth-fixture.ts";
import { writeHistories } from "./growth-history.ts";
import { lookedAt, lookRounds } from "./growth-looks.ts";
import { CHUNK_SECONDS, measureStateSize, ScriptedState } from "./growth-script.ts";
import { profiled } from "./process-profile.ts";
import type { BenchRow, BenchScale } from "./row.ts";
import { median } from "./statistics.ts";

const LENGTHS = [
  { size: "10 min", seconds: 600 },
  { size: "1 h", seconds: 3_600 },
  { size: "8 h", seconds: 28_800 },
];
/** Of four events each: one snapshot of the session falls into each round. */
const FINALS = 50;
/** Up to here a round lengthens a session by so much that each takes another one. */
const SHORT_SECONDS = 600;
/** Chunks that are sent at the beginning and the end of a session. */
const SENT = 3;
const FLAT_STATE = [4 * 1024];

interface Length {
  size: string;
  devices: GrowthDevice[];
}

const LENGTH_AXIS = "length of the session";

/** The same final, look, activation and turn in sessions that have recorded for long. */
export async function measureLengths(rounds: number, scale: BenchScale): Promise<BenchRow[]> {
  const lengths = scale.size < 1 ? LENGTHS.slice(0, 2) : LENGTHS;
  const figures = new GrowthFigures(
    LENGTH_AXIS,
    lengths.map(({ size }) => size),
  );
  const fixture = await GrowthFixture.open();
  try {
    const sessions = await record(fixture, lengths, rounds);
    await finalRounds(fixture, figures, sessions, rounds, "final");
    const looked = await Promise.all(
      sessions.map(({ size, devices }) => lookedAt(fixture, size, devices[0]?.sessionId ?? "")),
    );
    await lookRounds(figures, looked, rounds, scale);
    await fixture.setState(measureStateSize());
    await finalRounds(fixture, figures, sessions, rounds, "final with today's speaker state");
    await profileFinals(fixture, sessions);
    await fixture.stopMain();
    await fixture.meter.vacuum();
    await actorRounds(fixture, figures, acted(sessions), flatState(), rounds);
    return figures.rows();
  } finally {
    await fixture.close();
  }
}

/**
 * Begun and ended through the public interface; what lies between is written into the record by the
 * sessions' own actors, as sending it would take most of an hour.
 */
async function record(
  fixture: GrowthFixture,
  lengths: typeof LENGTHS,
  rounds: number,
): Promise<Length[]> {
  const begun = performance.now();
  const sessions: Length[] = [];
  const wanted: { device: GrowthDevice; chunks: number }[] = [];
  for (const { size, seconds } of lengths) {
    const devices: GrowthDevice[] = [];
    for (let n = 0; n < (seconds <= SHORT_SECONDS ? rounds + 1 : 1); n += 1) {
      const device = await GrowthDevice.start(fixture);
      await device.feed(SENT);
      devices.push(device);
      wanted.push({ device, chunks: seconds / CHUNK_SECONDS - SENT });
    }
    sessions.push({ size, devices });
  }
  await fixture.stopMain();
  await writeHistories(fixture, wanted, flatState());
  await fixture.startMain();
  for (const { device } of wanted) await device.feed(SENT);
  const took = (performance.now() - begun) / 1_000;
  process.stderr.write(`  ${wanted.length} sessions recorded in ${took.toFixed(1)} s\n`);
  return sessions;
}

function flatState(): ScriptedState {
  const state = new ScriptedState();
  state.size = FLAT_STATE;
  return state;
}

async function finalRounds(
  fixture: GrowthFixture,
  figures: GrowthFigures,
  sessions: readonly Length[],
  rounds: number,
  name: string,
): Promise<void> {
  for (let round = 0; round <= rounds; round += 1) {
    process.stderr.write(`  ${name}, round ${round} of ${rounds}\n`);
    for (const { size, devices } of sessions) {
      const device = devices[round % devices.length];
      if (device === undefined) continue;
      await device.say();
      let delays: number[] = [];
      const cost = await fixture.meter.measure(async () => {
        delays = await device.speak(FINALS);
      });
      device.unfollow();
      if (round === 0) continue;
      figures.add(`${name}: chunk stored to final seen`, "ms", size, median(delays));
      figures.addWork(name, size, cost, FINALS);
    }
  }
}

/** With `--profile`: what the functions of our process take of a round, at each length. */
async function profileFinals(fixture: GrowthFixture, sessions: readonly Length[]): Promise<void> {
  if (process.env.BENCH_PROFILE === undefined) return;
  for (const { size, devices } of sessions) {
    const device = devices[0];
    if (device === undefined) continue;
    await device.say();
    await profiled(fixture.main.pid, `finals, ${size}`, () => device.speak(FINALS));
    device.unfollow();
  }
}

function acted(sessions: readonly Length[]): ActedOn[][] {
  return sessions.map(({ size, devices }) =>
    devices.map(({ sessionId, chunks }) => ({ size, sessionId, chunks })),
  );
}
