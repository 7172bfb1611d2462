import type { ActorRef } from "../actor/actor.ts";
import type { CommandNotifier } from "../postgres/outbox.ts";
import type { Pool, Transaction } from "../postgres/pool.ts";
import type { Tenants } from "../postgres/tenants.ts";
import type { OutsideCommand } from "../session/outside-command.ts";
import type { TenancyContext, TenancyEffects } from "../tenancy/context.ts";
import type { LanguageModelStatus } from "../wire/language-model.ts";

/** What each feature is created with, in a process and in tests. */
export interface FeatureContext extends TenancyContext {
  tenants: Tenants;
  notifier: CommandNotifier;
  actors: SessionActors;
  /** The language models that the workers may ask. */
  languageModels: () => readonly LanguageModelStatus[];
  others: OtherTables;
}

/** What a feature has others do in its transactions, each with its own tables. */
export interface OtherTables extends TenancyEffects {
  /** Takes a guest out of a session; false when there is none with this id. */
  removeGuest(tx: Transaction, guest: { sessionId: string; id: string }): Promise<boolean>;
  /** Has a recording end with the last of the whole files that came for it; false without any. */
  endWithUploads(tx: Transaction, upload: { sessionId: string; except?: string }): Promise<boolean>;
  /** Marks the claim on a label as contested by a user, and ends what rests on it. */
  contestClaim(pool: Pool, sessionId: string, label: string, userId: string): Promise<void>;
}

/** Sends commands to session actors, on whichever host they run. */
export type SessionActors = ActorRef<OutsideCommand>;
