import { median } from "./statistics.ts";

/** Something that is measured beside others: one call, one figure. */
export type Contender = () => Promise<number>;

/**
 * Every contender in turn, round after round (A B C A B C ...), so that what
 * the machine does besides hits all alike. A round that is not counted comes first.
 */
export async function interleave<Name extends string>(
  rounds: number,
  contenders: Readonly<Record<Name, Contender>>,
): Promise<Record<Name, number[]>> {
  const names = Object.keys(contenders) as Name[];
  const figures = Object.fromEntries(names.map((name) => [name, []])) as unknown as Record<
    Name,
    number[]
  >;
  for (let round = 0; round <= rounds; round += 1) {
    for (const name of names) {
      const figure = await contenders[name]();
      if (round > 0) figures[name].push(figure);
    }
  }
  return figures;
}

/** The median over the rounds of what `ours` is over `theirs` in the same round. */
export function medianRatio(ours: readonly number[], theirs: readonly number[]): number {
  return median(ours.map((value, round) => value / (theirs[round] ?? Number.NaN)));
}
