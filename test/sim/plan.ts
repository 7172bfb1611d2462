import type { SeededRandom } from "../support/seeded-random.ts";
import type { DevicePlan } from "./device.ts";
import { FAULTS, type Fault } from "./faults.ts";
import type { StreamPlan } from "./streamer.ts";

const SECOND = 1_000;
const MINUTE = 60 * SECOND;

/** What a seed stands for: who takes part, and what goes wrong. */
export interface Plan {
  hosts: number;
  /** Milliseconds by which each host's clock is wrong. */
  skews: number[];
  workers: { capacity: number; speed: number; flavour: string }[];
  sessions: {
    device: DevicePlan;
    wishes: number[];
    viewers: { at: number; fromStart: boolean }[];
    /** Once it is over somebody wants all of it read again. */
    readAgain: boolean;
  }[];
  faults: { kinds: Fault[]; every: number; until: number };
  requestLoss: number;
  /** From then on nobody can load the first session any more, milliseconds. */
  unloadableAt: number | undefined;
}

/** @param afterwards decides what was added later, so that a seed's people and faults stay the same */
export function planOf(random: SeededRandom, afterwards: SeededRandom): Plan {
  const hosts = 1 + random.below(4);
  const kinds = kindsOf(random);
  const until = (40 + random.below(100)) * SECOND;
  return {
    hosts: kinds.includes(SPLIT) ? Math.max(2, hosts) : hosts,
    skews: Array.from({ length: 8 }, () =>
      random.chance(0.3) ? (random.next() - 0.5) * 60 * MINUTE : random.next() * 50,
    ),
    workers: Array.from({ length: 1 + random.below(2) }, () => ({
      capacity: 1 + random.below(4),
      speed: random.pick([3, 10, 40]),
      flavour: "",
    })),
    sessions: Array.from({ length: sessionsOf(random) }, () => ({
      ...sessionOf(random),
      readAgain: afterwards.chance(0.3),
    })),
    faults: { kinds, every: (5 + random.below(40)) * SECOND, until },
    requestLoss: random.chance(0.2) ? 0.05 : 0,
    unloadableAt: random.chance(0.08) ? random.pick([0, random.next()]) * until : undefined,
  };
}

/** With it two hosts may hold the same session. */
const SPLIT: Fault = "host cut from the bus";

function kindsOf(random: SeededRandom): Fault[] {
  if (random.chance(0.25)) return [];
  if (random.chance(0.1)) return [SPLIT];
  return Array.from({ length: 1 + random.below(4) }, () => random.pick(FAULTS));
}

/** A crowd now and then: they share partitions, workers and the record. */
function sessionsOf(random: SeededRandom): number {
  return random.chance(0.06) ? 4 + random.below(9) : 1 + random.below(3);
}

function sessionOf(random: SeededRandom): Omit<Plan["sessions"][number], "readAgain"> {
  const wishes = random.chance(0.4) ? 0 : 1 + random.below(8);
  const device = deviceOf(random);
  const span = random.pick([lengthOf(device) / SECOND, 60, 160]);
  return {
    device,
    wishes: Array.from({ length: wishes }, () => 3_000 + random.next() * span * SECOND),
    viewers: Array.from({ length: random.below(3) }, () => ({
      at: random.below(100) * SECOND,
      fromStart: random.chance(0.5),
    })),
  };
}

function deviceOf(random: SeededRandom): DevicePlan {
  const chunkSeconds = random.pick([2, 4, 8]);
  const chunks = 1 + random.below(random.chance(0.2) ? 20 : 8);
  const stream = random.chance(0.33) ? streamOf(random) : undefined;
  const length = lengthOf({ stream, chunks, chunkSeconds });
  const offline: [number, number][] = [];
  for (let n = random.below(3); n > 0; n -= 1) {
    const from = random.next() * length;
    offline.push([from, from + random.next() * random.pick([5, 20, 60]) * SECOND]);
  }
  // Its network goes as it is told to stop, or was never there.
  if (random.chance(0.2)) {
    offline.push([
      random.chance(0.3) ? 1_000 : length * random.next(),
      length + random.next() * 90 * SECOND,
    ]);
  }
  return {
    stream,
    chunks,
    chunkSeconds,
    order: random.pick(["in order", "in order", "newest first", "shuffled"] as const),
    parallel: 1 + random.below(4),
    offline,
    stopsFirst: random.chance(0.5),
    tellsLast: random.chance(0.8),
    repeats: random.chance(0.2),
    broken: random.chance(0.1) ? 0.2 : 0,
    poison: random.chance(0.05) ? 0.2 : 0,
    heldBack: random.chance(0.25) ? 0.25 : 0,
    lostAt: random.chance(0.06) ? random.next() * length : undefined,
  };
}

/** Of what it records, milliseconds. */
function lengthOf({
  stream,
  chunks,
  chunkSeconds,
}: Pick<DevicePlan, "stream" | "chunks" | "chunkSeconds">): number {
  return (stream?.seconds ?? chunks * chunkSeconds) * SECOND;
}

function streamOf(random: SeededRandom): StreamPlan {
  return {
    seconds: 2 + random.below(random.chance(0.2) ? 80 : 30),
    messageMs: random.pick([200, 500, 1_000]),
    share: random.chance(0.35) ? random.next() : 1,
    way: random.chance(0.2) ? 2_000 : 20,
    breaks: random.chance(0.6) ? random.pick([4, 15]) * SECOND : undefined,
    isTold: random.chance(0.5),
    doubts: random.chance(0.3) ? 0.05 : 0,
    drops: random.chance(0.1),
    resumes: random.chance(0.5),
    interim: random.chance(0.7),
    finalizes: random.chance(0.3),
    isPoisonous: random.chance(0.04),
    alongside: random.chance(0.25) ? 1 + random.below(3) : 0,
  };
}
