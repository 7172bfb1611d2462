import type { RevocationFeed } from "../access/revocations.ts";
import type { ActorRef } from "../actor/actor.ts";
import type { Clock } from "../base/clock.ts";
import type { Log } from "../base/log.ts";
import type { QueueMetrics } from "../base/queue-metrics.ts";
import type { Stack } from "../base/stack.ts";
import type { Ceilings } from "../postgres/ceilings.ts";
import type { CommandNotifier } from "../postgres/outbox.ts";
import type { Pool, Transaction } from "../postgres/pool.ts";
import type { Tenants } from "../postgres/tenants.ts";
import type { OutsideCommand } from "../session/outside-command.ts";
import type { LanguageModelStatus } from "../wire/language-model.ts";
import type { SpeechEngine } from "../wire/speech-engines.ts";

/** What each feature is created with, in a process and in tests. */
export interface FeatureContext {
  pool: Pool;
  clock: Clock;
  log: Log;
  /** Signs the cursors of lists. */
  cursorKey: Uint8Array;
  ceilings: Ceilings;
  tenants: Tenants;
  notifier: CommandNotifier;
  actors: SessionActors;
  /** The speech engines of the workers. */
  engines: () => readonly SpeechEngine[];
  /** The language models that they may ask. */
  languageModels: () => readonly LanguageModelStatus[];
  revocations: RevocationFeed;
  /** Stops what is pushed on it together with the process. */
  stack: Pick<Stack, "push">;
  /** Collects the owners of queues for the metrics. */
  queues: Pick<QueueMetrics, "add">;
  others: OtherTables;
}

/** What a feature has others do in its transactions, each with its own tables. */
export interface OtherTables {
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
  /** Takes a guest out of a session; false when there is none with this id. */
  removeGuest(tx: Transaction, guest: { sessionId: string; id: string }): Promise<boolean>;
  /** Ends what a workspace has that is deleted. */
  workspaceEndings: readonly ((tx: Transaction, workspaceId: string) => Promise<void>)[];
  /** Unpairs the devices of a workspace that is deleted; resolves to their ids. */
  unpairDevices(tx: Transaction, workspaceId: string): Promise<string[]>;
  /** Has a recording end with the last of the whole files that came for it; false without any. */
  endWithUploads(tx: Transaction, upload: { sessionId: string; except?: string }): Promise<boolean>;
  /** Marks the claim on a label as contested by a user, and ends what rests on it. */
  contestClaim(pool: Pool, sessionId: string, label: string, userId: string): Promise<void>;
}

/** Sends commands to session actors, on whichever host they run. */
export type SessionActors = ActorRef<OutsideCommand>;
