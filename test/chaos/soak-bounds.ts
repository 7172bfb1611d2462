import type { Bound } from "./soak-figures.ts";

/**
 * What may grow by how much in the whole run and still be level; the first that fits counts.
 * Counts of rows and of what happened are only shown.
 */
const BOUNDS: readonly (readonly [name: RegExp, bound: Bound])[] = [
  [/ heap MiB$/, { share: 0.15, least: 20 }],
  [/^(main|worker|nats|supervisor) MiB$/, { share: 0.1, least: 25 }],
  // Its cache of pages fills up to what it was given.
  [/^postgres MiB$/, { share: 0.25, least: 64 }],
  [/ (fds|processes)$/, { share: 0.1, least: 20 }],
  [/^GET .* p50 ms$/, { share: 0.25, least: 5 }],
  [/^GET .* p95 ms$/, { share: 0.25, least: 20 }],
  [/^final, .* p50 ms$/, { share: 0.25, least: 100 }],
  [/^final, .* p95 ms$/, { share: 0.25, least: 250 }],
  [/ bytes\/row$/, { share: 0.1, least: 20 }],
  [/ KiB$/, { share: 0.25, least: 2_048 }],
  [/^dead rows %$/, { share: 0.25, least: 5 }],
  [/^WAL MiB\/min$/, { share: 0.25, least: 5 }],
  [/^activations of the recording$/, { share: 0.25, least: 50 }],
  [/^(jobs of 30 min and more|changes of owner)$/, { share: 0, least: 0 }],
];

export function boundOf(name: string): Bound | undefined {
  return BOUNDS.find(([pattern]) => pattern.test(name))?.[1];
}
