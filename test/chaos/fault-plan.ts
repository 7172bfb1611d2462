import { PAIRS, PARTS, type Pair, type PartName } from "../support/chaos-stage.ts";
import { FAULT_KINDS, type Fault } from "../support/fault-proxy.ts";
import type { SeededRandom } from "../support/seeded-random.ts";

/** One thing that goes wrong, `gapMs` after the one before it. */
export type Mishap =
  | { readonly kind: "fault"; readonly gapMs: number; readonly pair: Pair; readonly fault: Fault }
  | { readonly kind: "kill"; readonly gapMs: number; readonly part: PartName };

const SHORTEST_MS = 50;
const LONGEST_MS = 5_000;
const MOST_GAP_MS = 400;

/**
 * `faults` faults and `kills` kills, all from the seed. The first nine meet every pair and every
 * kind, and each 54 in a row every kind on every pair.
 */
export function planMishaps(random: SeededRandom, faults: number, kills: number): Mishap[] {
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
  for (let n = 0; n < kills; n += 1) {
    const part = parts[n % PARTS.length] as PartName;
    const at = Math.floor(((n + 0.5) * plan.length) / kills);
    plan.splice(at, 0, { kind: "kill", gapMs: random.below(MOST_GAP_MS), part });
  }
  return plan;
}

/** As often from 50 to 500 ms as from 500 ms to 5 s. */
function duration(random: SeededRandom): number {
  return Math.round(SHORTEST_MS * (LONGEST_MS / SHORTEST_MS) ** random.next());
}

function shuffled<T>(random: SeededRandom, items: readonly T[]): T[] {
  const left = [...items];
  return items.map(() => left.splice(random.below(left.length), 1)[0] as T);
}
