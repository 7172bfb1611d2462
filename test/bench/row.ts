/** One line of the report. */
export interface BenchRow {
  figure: string;
  unit: string;
  ours: number;
  /** What it is held against in the same run, if anything. */
  peer?: { name: string; value: number };
  /** Ours over the peer's, or the peer's over ours where less is better: more is always better. */
  ratio?: number;
  /** The mark in words; empty where a figure stands for itself. */
  mark: string;
  /** Absent without a mark. */
  met?: boolean;
  /** How it was measured and what else was seen. */
  detail?: string;
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
