/** One line of the report. */
export interface BenchRow {
  figure: string;
  unit: string;
  ours: number;
  /** What it is held against in the same run, if anything. */
  peer?: { name: string; value: number };
  /**
   * Ours over the peer's, or the peer's over ours where less is better: more is always better. Of a
   * cost that may grow: that at the dearest size over that at the first.
   */
  ratio?: number;
  /** A cost at several sizes of the same thing, smallest first; `ours` is that at the largest. */
  growth?: Growth;
  /** The mark in words; empty where a figure stands for itself. */
  mark: string;
  /** Absent without a mark. */
  met?: boolean;
  /** How it was measured and what else was seen. */
  detail?: string;
}

export interface Growth {
  /** What the sizes are sizes of. */
  axis: string;
  costs: { size: string; cost: number }[];
}

/** How long a measurement may take. */
export interface BenchScale {
  /** Rounds of each contender, interleaved. */
  rounds: number;
  /** Length of one round, milliseconds. */
  roundMs: number;
  /** 1 for all of it; less shrinks the sizes. */
  size: number;
}

export const FULL: BenchScale = { rounds: 5, roundMs: 1_000, size: 1 };
export const QUICK: BenchScale = { rounds: 3, roundMs: 400, size: 0.2 };
