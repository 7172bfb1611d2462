import { PAIRS, PARTS, type Pair, type PartName } from "../support/chaos-cluster.ts";
import { FAULT_KINDS, type Fault } from "../support/fault-proxy.ts";
import type { SeededRandom } from "../support/seeded-random.ts";

/** One thing that goes wrong, `gapMs` after the one before it. */
export type Mishap =
  | { readonly kind: "fault"; readonly gapMs: number; readonly pair: Pair; readonly fault: Fault }
  | { readonly kind: "kill"; readonly gapMs: number; readonly part: PartName }
  /** One host without NATS or without PostgreSQL, which the other still has. */
  | { readonly kind: "isolation"; readonly gapMs: number; readonly pair: Pair; readonly ms: number }
  | { readonly kind: "switchover"; readonly gapMs: number };

/** How much of what. */
export interface Trouble {
  readonly faults: number;
  readonly kills: number;
  readonly isolations: number;
  readonly switchovers: number;
}

const SHORTEST_MS = 50;
const LONGEST_MS = 5_000;
const MOST_GAP_MS = 400;
const ISOLATION_MS = 60_000;
/** By turns. */
const ISOLATED: readonly Pair[] = ["host1-nats", "host2-postgres", "host2-nats", "host1-postgres"];

/**
 * All from the seed. The first nine faults meet every pair and every kind, and each 54 in a row
 * every kind on every pair; the rest is spread evenly among them.
 */
export function planMishaps(random: SeededRandom, trouble: Trouble): Mishap[] {
  const { faults, kills, isolations, switchovers } = trouble;
  const pairs = shuffled(random, PAIRS);
  const kinds = shuffled(random, FAULT_KINDS);
  const parts = shuffled(random, PARTS);
  const plan: Mishap[] = [];
  for (let n = 0; n < faults; n += 1) {
    const turn = Math.floor(n / PAIRS.length);
    const pair = pairs[n % PAIRS.length] as Pair;
    const kind = kinds[((n % PAIRS.length) + turn) % FAULT_KINDS.length] as Fault["kind"];
    const direction = random.chance(0.5) ? "up" : "down";
    const bytesPerSecond = 500 * 2 ** random.below(5);
    const fault = { kind, ms: duration(random), direction, bytesPerSecond } as const;
    plan.push({ kind: "fault", gapMs: random.below(MOST_GAP_MS), pair, fault });
  }
  const gapMs = () => random.below(MOST_GAP_MS);
  spread(plan, kills, (n) => {
    return { kind: "kill", gapMs: gapMs(), part: parts[n % PARTS.length] as PartName };
  });
  spread(plan, isolations, (n) => {
    const pair = ISOLATED[n % ISOLATED.length] as Pair;
    return { kind: "isolation", gapMs: gapMs(), pair, ms: ISOLATION_MS };
  });
  spread(plan, switchovers, () => ({ kind: "switchover", gapMs: gapMs() }));
  return plan;
}

function spread(plan: Mishap[], count: number, make: (n: number) => Mishap): void {
  for (let n = 0; n < count; n += 1) {
    const at = Math.floor(((n + 0.5) * plan.length) / count);
    plan.splice(at, 0, make(n));
  }
}

/** As often from 50 to 500 ms as from 500 ms to 5 s. */
function duration(random: SeededRandom): number {
  return Math.round(SHORTEST_MS * (LONGEST_MS / SHORTEST_MS) ** random.next());
}

function shuffled<T>(random: SeededRandom, items: readonly T[]): T[] {
  const left = [...items];
  return items.map(() => left.splice(random.below(left.length), 1)[0] as T);
}
