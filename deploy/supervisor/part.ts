/** What to start, and as whom. */
export interface Launch {
  readonly program: string;
  readonly args: readonly string[];
  readonly env?: NodeJS.ProcessEnv;
  readonly cwd?: string;
  readonly uid?: number;
  readonly gid?: number;
}

/** Facts that a part tells when it is ready, such as its addresses. */
export type ReadyFacts = Readonly<Record<string, unknown>>;

export interface StopStep {
  readonly signal: NodeJS.Signals;
  readonly waitMs: number;
}

/** One process that the supervisor keeps running. */
export interface Part {
  readonly name: string;
  /** For a person: "PostgreSQL". */
  readonly title: string;
  readonly logFile: string;
  launch(): Launch;
  /**
   * Asked until it gives facts. Without it the part itself tells, by a line of JSON on its output
   * whose `event` is "ready".
   */
  probe?(): Promise<ReadyFacts | undefined>;
  /** Asked every few seconds while it runs; after several refusals in a row it is killed. */
  isHealthy?(): Promise<boolean>;
  readonly readyTimeoutMs: number;
  /** Tried in this order; SIGKILL comes after the last. */
  readonly stop: readonly StopStep[];
}
