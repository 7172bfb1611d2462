import type { RevocationFeed } from "../access/revocations.ts";
import type { Clock } from "../base/clock.ts";
import type { Log } from "../base/log.ts";
import type { QueueMetrics } from "../base/queue-metrics.ts";
import type { Stack } from "../base/stack.ts";
import type { Ceilings } from "../postgres/ceilings.ts";
import type { Pool, Transaction } from "../postgres/pool.ts";
import type { SpeechEngine } from "../wire/speech-engines.ts";

/** What each feature of tenancy is created with, in a process and in tests. */
export interface TenancyContext {
  pool: Pool;
  clock: Clock;
  log: Log;
  /** Signs the cursors of lists. */
  cursorKey: Uint8Array;
  ceilings: Ceilings;
  /** The speech engines of the workers. */
  engines: () => readonly SpeechEngine[];
  revocations: RevocationFeed;
  /** Stops what is pushed on it together with the process. */
  stack: Pick<Stack, "push">;
  /** Collects the owners of queues for the metrics. */
  queues: Pick<QueueMetrics, "add">;
  others: TenancyEffects;
}

/** What tenancy has others do in its transactions, each with its own tables. */
export interface TenancyEffects {
  /** Makes somebody a member of a workspace; false when they are one. */
  joinWorkspace(
    tx: Transaction,
    member: { workspaceId: string; userId: string; role: string },
  ): Promise<boolean>;
  /** Makes somebody a member of a session; false when they belong to it. */
  joinSession(
    tx: Transaction,
    member: { sessionId: string; userId: string; relation: string },
  ): Promise<boolean>;
  /** Ends what a workspace has that is deleted. */
  workspaceEndings: readonly ((tx: Transaction, workspaceId: string) => Promise<void>)[];
  /** Unpairs the devices of a workspace that is deleted; resolves to their ids. */
  unpairDevices(tx: Transaction, workspaceId: string): Promise<string[]>;
}
