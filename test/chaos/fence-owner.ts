import { ActorHost } from "../../src/actor/host.ts";
import { PartitionOwner } from "../../src/actor/partition-owner.ts";
import { isAppError } from "../../src/base/errors.ts";
import { newId } from "../../src/base/ids.ts";
import { silentLog } from "../../src/base/log.ts";
import { partitionOf } from "../../src/base/partition.ts";
import { systemRuntime } from "../../src/base/runtime.ts";
import { SessionJournal } from "../../src/journal/session-journal.ts";
import { PostgresLeaseTable } from "../../src/postgres/lease-store.ts";
import { createPool } from "../../src/postgres/pool.ts";
import { sessionBehaviour } from "../../src/session/behaviour.ts";
import type { SessionCommand } from "../../src/session/command.ts";
import type { SessionEvent } from "../../src/session/event.ts";
import type { SessionState } from "../../src/session/state.ts";
import type { SessionWrite } from "../../src/session/write.ts";

/** A host of session actors that never stops writing to those which it owns. */

export interface OwnerSettings {
  name: string;
  databaseUrl: string;
  leaseMs: number;
  sessions: string[];
}

/** What an owner tells its parent. */
export type OwnerNews =
  | { kind: "figures"; owned: string[]; fenced: number; stored: number; turnedAway: number }
  /** An event of this id was answered as durable. */
  | { kind: "stored"; sessionId: string; id: string }
  /** This one was refused as coming from a stale owner. */
  | { kind: "refused"; sessionId: string; id: string };

const OUTSTANDING = 16;

const settings = JSON.parse(process.env.FENCE_OWNER ?? "{}") as OwnerSettings;
const tell = (news: OwnerNews): void => {
  process.send?.(news);
};

const pool = await createPool(settings.databaseUrl, { maximumPoolSize: 10 });
const leases = await createPool(settings.databaseUrl, {
  maximumPoolSize: 1,
  statementTimeout: settings.leaseMs * 0.4,
});
let fenced = 0;
let stored = 0;
/** Writes that were under way when this host was no longer, or perhaps no longer, the owner. */
let turnedAway = 0;
const host = new ActorHost<SessionState, SessionEvent, SessionWrite, SessionCommand>({
  activation: {
    behaviour: sessionBehaviour,
    journal: new SessionJournal(pool, () => {
      fenced += 1;
    }),
    createEffects: () => [],
    runtime: systemRuntime,
    log: silentLog,
    mailboxCapacity: 1_024,
    batchSize: 4,
    snapshotEvery: 500,
    appendAttempts: 3,
    hasRight: () => owner.hasRight(),
  },
  maxActivations: 1_000,
  passivateAfter: 600_000,
  sweepEvery: 60_000,
  onFenced: (partition): Promise<boolean> => owner.dispute(partition),
});
host.start();
const owner: PartitionOwner = new PartitionOwner({
  host: settings.name,
  table: new PostgresLeaseTable(leases, settings.name),
  runtime: systemRuntime,
  log: silentLog,
  leaseTime: settings.leaseMs,
  onTaken: (partitions) => host.own(...partitions),
  onReleased: (partitions) => host.release(...partitions),
  onLost: (partitions) => host.lose(...partitions),
});
await owner.start();

const owned = (): string[] => {
  const partitions = new Set(host.owned);
  return settings.sessions.filter((id) => partitions.has(partitionOf(id)));
};

/** Keeps a few events of one session under way for as long as it is owned here. */
async function write(sessionId: string): Promise<void> {
  for (;;) {
    if (!owned().includes(sessionId)) {
      await new Promise((resolve) => setTimeout(resolve, 20));
      continue;
    }
    const id = newId();
    try {
      await host.deliver(sessionId, { type: "ConcernStored", concernId: id }, newId());
      stored += 1;
      tell({ kind: "stored", sessionId, id });
    } catch (error) {
      if (isAppError(error, "stale_epoch")) tell({ kind: "refused", sessionId, id });
      turnedAway += 1;
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
  }
}

for (const sessionId of settings.sessions) {
  for (let n = 0; n < OUTSTANDING; n += 1) void write(sessionId);
}
setInterval(() => tell({ kind: "figures", owned: owned(), fenced, stored, turnedAway }), 50);
process.on("disconnect", () => process.exit(0));
