import { delay } from "../../src/base/deferred.ts";
import { PARTITIONS } from "../../src/base/partition.ts";
import { ownedPartitions } from "../support/owned-partitions.ts";
import { until } from "../support/until.ts";
import type { MainProcess } from "./bench-fixture.ts";
import type { GrowthDevice } from "./growth-device.ts";
import type { GrowthFigures } from "./growth-figures.ts";
import type { GrowthFixture } from "./growth-fixture.ts";
import { exactCpuSeconds } from "./process-cpu.ts";
import { median } from "./statistics.ts";

const BALANCED_MS = 600_000;
const TAKEN_MS = 600_000;
const POLL_MS = 100;
const BALANCE_POLL_MS = 250;

interface Stage {
  size: string;
  fixture: GrowthFixture;
  speaking: readonly GrowthDevice[];
}

/**
 * A second process takes its half, the first is killed, and the second takes the other half: until
 * it has taken up all sessions of that, and until finals of those who go on speaking are seen.
 */
export async function takeoverRound(
  figures: GrowthFigures,
  { size, fixture, speaking }: Stage,
): Promise<void> {
  const killed = fixture.main;
  const successor = await fixture.startStandby();
  await balanced([killed, successor]);
  const lost = await epochsOf(fixture, killed);
  const hit = speaking.filter(({ sessionId }) => lost.has(sessionId));
  let taken = { first: 0, last: 0 };
  const finals: number[] = [];
  const cost = await fixture.meter.measure(
    async () => {
      await killed.kill9();
      const killedAt = performance.now();
      fixture.replaceMain(successor);
      const speaks = hit.map(async (device) => {
        await device.say();
        finals.push(performance.now() - killedAt);
      });
      [taken] = await Promise.all([takenUp(fixture, lost, killedAt), ...speaks]);
    },
    () => exactCpuSeconds(successor.pid),
  );
  for (const device of hit) device.unfollow();
  const name = "kill -9 of the host";
  if (finals.length > 0) {
    figures.add(`${name} to a speaker's next final`, "ms", size, median(finals));
  }
  figures.add(`${name} to its first session taken up`, "ms", size, taken.first);
  figures.add(`${name} to its last session taken up`, "ms", size, taken.last);
  figures.addCost("takeover, each session", size, cost, lost.size);
}

/** Both have their halves, and what moved has been put away. */
async function balanced(mains: readonly MainProcess[]): Promise<void> {
  let next = 0;
  const isBalanced = async () => {
    if (performance.now() < next) return false;
    next = performance.now() + BALANCE_POLL_MS;
    const owned = await Promise.all(mains.map(({ opsUrl }) => ownedPartitions(opsUrl)));
    return owned.every((each) => each === PARTITIONS / mains.length);
  };
  await until(isBalanced, "both hosts to own their share", BALANCED_MS);
  await delay(1_000);
}

/** By session, of those that live in this process. */
async function epochsOf(fixture: GrowthFixture, main: MainProcess): Promise<Map<string, number>> {
  const { rows } = await fixture.fixture.owner.query<{ id: string; epoch: number }>(
    `select s.id, s.epoch::int as epoch
     from sessions as s join partition_owners as p on p.partition = partition_of(s.id)
     where p.holder like $1 and s.has_work`,
    [`%-${main.pid}-%`],
  );
  return new Map(rows.map(({ id, epoch }) => [id, epoch]));
}

/** Milliseconds until the first and the last of them had another owner. */
async function takenUp(
  fixture: GrowthFixture,
  lost: ReadonlyMap<string, number>,
  killedAt: number,
): Promise<{ first: number; last: number }> {
  const [ids, epochs] = [[...lost.keys()], [...lost.values()]];
  let first: number | undefined;
  while (performance.now() - killedAt < TAKEN_MS) {
    const { rows } = await fixture.fixture.owner.query<{ taken: number }>(
      `select count(*)::int as taken
       from unnest($1::uuid[], $2::int[]) as l (id, epoch) join sessions as s using (id)
       where s.epoch > l.epoch`,
      [ids, epochs],
    );
    const taken = rows[0]?.taken ?? 0;
    const at = performance.now() - killedAt;
    if (taken > 0) first ??= at;
    if (taken === ids.length) return { first: first ?? at, last: at };
    await delay(POLL_MS);
  }
  throw new Error(`The sessions of a killed host were not taken up in ${TAKEN_MS} ms.`);
}
