import type {
  ActiveSession,
  Backlog,
  BacklogCommand,
  CommandQueue,
  Ended,
  FailedDelivery,
  ParkedCommand,
  PartitionCursor,
  QueueCursor,
  WorkingSession,
} from "../../../src/actor/backlog.ts";
import type {
  Appended,
  CommandFate,
  CommandRecord,
  Journal,
  LoadFrom,
  Outcome,
  Recorded,
} from "../../../src/actor/journal.ts";
import {
  MOST_ATTEMPTS,
  OPEN_WORK_PAGE,
  QUEUE_HEAD,
  QUEUES_PAGE,
} from "../../../src/base/backlog-limits.ts";
import { AppError, isAppError } from "../../../src/base/errors.ts";
import { partitionOf } from "../../../src/base/partition.ts";
import type { Runtime } from "../../../src/base/runtime.ts";
import type { SessionEvent } from "../../../src/session/event.ts";
import {
  toWebhookEvents,
  type WebhookData,
  type WebhookEventType,
} from "../../../src/session/webhook-event.ts";
import type { SessionWrite } from "../../../src/session/write.ts";
import {
  hasLanded,
  passFence,
  readPast,
  type SessionBatch,
  type SessionPast,
  saveOutcomes,
  saveSnapshot,
  storeWrites,
} from "./journal-statements.ts";
import { projectEvents } from "./projections.ts";
import type { Conversation, RecordClient } from "./record-client.ts";
import type { RecordTables } from "./record-tables.ts";
import type { OutboxTableRow } from "./rows.ts";
import type { Statement } from "./statement.ts";

export interface TwinParts {
  client: RecordClient;
  t: RecordTables;
  /** Of the host. */
  runtime: Runtime;
  newId(): string;
}

/** The sessions' journal over tables in memory, with the same projections in the same transaction. */
export class TwinJournal implements Journal<SessionEvent, SessionWrite> {
  readonly #parts: TwinParts;
  readonly #onFenced: () => void;

  constructor(parts: TwinParts, onFenced: () => void = () => {}) {
    this.#parts = parts;
    this.#onFenced = onFenced;
  }

  activate(id: string): Promise<SessionPast | undefined> {
    const { client, t } = this.#parts;
    return client.transaction(async (tx) => {
      const taken = await tx.run((s) =>
        s.update(
          t.sessions,
          id,
          ({ epoch }) => ({ epoch: epoch + 1 }),
          ({ status }) => status !== "deleted",
        ),
      );
      if (taken === undefined) return undefined;
      const { epoch, seq, has_work: hasWork } = taken;
      return { epoch, seq, hasWork, ...(await tx.run((s) => readPast(s, t, id, "snapshot"))) };
    });
  }

  load(id: string, from: LoadFrom): Promise<SessionPast | undefined> {
    const { client, t } = this.#parts;
    return client.transaction(async (tx) => {
      const held = await tx.run((s) =>
        s.lock(t.sessions, id, "share", ({ status }) => status !== "deleted"),
      );
      if (held === undefined) return undefined;
      const { epoch, seq, has_work: hasWork } = held;
      return { epoch, seq, hasWork, ...(await tx.run((s) => readPast(s, t, id, from))) };
    });
  }

  async append(batch: SessionBatch): Promise<Appended> {
    // What the caller changes afterwards is not what was appended.
    const given = structuredClone(batch);
    try {
      return await this.#parts.client.transaction((tx) => this.#append(tx, given), { retries: 0 });
    } catch (error) {
      if (isAppError(error, "stale_epoch")) this.#onFenced();
      throw error;
    }
  }

  async #append(tx: Conversation, batch: SessionBatch): Promise<Appended> {
    const { t, newId } = this.#parts;
    const { id, events } = batch;
    const passed = await tx.run((s) => passFence(s, t, batch));
    if (passed === undefined) return landedBefore(tx, t, batch);
    if (passed.tooLate) throw new AppError("too_late", "The time for this is over.");
    await storeWrites(tx, t, id, batch.writes);
    if (events.length > 0) {
      await projectEvents({ tx, t, id, newId }, events);
      await enqueueJournalEvents(tx, this.#parts, id, events);
    }
    const { outcomes, snapshot } = batch;
    if (outcomes.length > 0) await tx.run((s) => saveOutcomes(s, t, id, outcomes));
    if (snapshot !== undefined) await tx.run((s) => saveSnapshot(s, t, batch, snapshot));
    return { now: passed.now };
  }
}

/** Throws what else has refused it. */
function landedBefore(tx: Conversation, t: RecordTables, batch: SessionBatch): Promise<Appended> {
  return tx.run((s) => {
    const session = s.get(t.sessions, batch.id);
    if (session === undefined || session.status === "deleted") {
      throw new AppError("session_deleted", "This session was deleted.");
    }
    if (hasLanded(s, t, batch)) return { now: s.clock };
    throw new AppError("stale_epoch", "Another activation of this session has taken over.");
  });
}

/** What became of commands, over tables in memory. */
export class TwinCommandRecord implements CommandRecord {
  readonly #parts: TwinParts;

  constructor(parts: TwinParts) {
    this.#parts = parts;
  }

  now(): Promise<number> {
    return this.#parts.client.query((s) => s.clock);
  }

  async fate(sessionId: string, commandId: string, deadline: number): Promise<CommandFate> {
    const { client, t } = this.#parts;
    const outcomeIn = (s: Statement): Outcome | undefined => {
      const row = s.get(t.outcomes, `${sessionId}:${commandId}`);
      return row === undefined ? undefined : (JSON.parse(row.outcome) as Outcome);
    };
    const known = await client.query(outcomeIn);
    if (known !== undefined) return { outcome: known, isOver: false };
    return client.transaction(
      async (tx) => {
        await tx.run((s) => s.lock(t.sessions, sessionId, "share"));
        return tx.run((s) => ({ outcome: outcomeIn(s), isOver: s.clock > deadline }));
      },
      { retries: 0 },
    );
  }
}

async function enqueueJournalEvents(
  tx: Conversation,
  parts: Pick<TwinParts, "t" | "newId">,
  id: string,
  events: readonly Recorded<SessionEvent>[],
): Promise<void> {
  const found: WebhookMessage[] = [];
  for (const { seq, at, event } of events) {
    for (const { type, data } of toWebhookEvents(event)) {
      found.push({ type, at, data: { ...data, seq } });
    }
  }
  if (found.length > 0) await enqueueWebhookEvents(tx, parts, id, found);
}

export interface WebhookMessage {
  type: WebhookEventType;
  at: number;
  data: WebhookData;
}

/** In the queue of each webhook of the workspace that wants it, within the transaction. */
export async function enqueueWebhookEvents(
  tx: Conversation,
  { t, newId }: Pick<TwinParts, "t" | "newId">,
  id: string,
  messages: readonly WebhookMessage[],
): Promise<void> {
  const ids = messages.map(() => newId()).sort();
  await tx.run(async (s) => {
    const workspace = s.get(t.sessions, id)?.workspace_id;
    if (workspace === undefined) return;
    for (const { id: webhookId } of s.all(t.webhooks)) {
      const webhook = await s.lock(
        t.webhooks,
        webhookId,
        "key share",
        (row) => row.workspace_id === workspace && row.enabled,
      );
      if (webhook === undefined) continue;
      const types = JSON.parse(webhook.event_types) as string[];
      for (const [index, { type, at, data }] of messages.entries()) {
        if (types.length > 0 && !types.includes(type)) continue;
        await s.insertNew(t.deliveries, {
          webhook_id: webhookId,
          id: ids[index] ?? newId(),
          event_type: type,
          data: JSON.stringify({ ...data, session_id: id, workspace_id: workspace }),
          occurred_at: Math.floor(at),
          status: "pending",
        });
      }
    }
  });
}

/** What is left to do, over tables in memory. */
export class TwinBacklog implements Backlog {
  readonly #parts: TwinParts;

  constructor(parts: TwinParts) {
    this.#parts = parts;
  }

  openWork(places: readonly PartitionCursor[]): Promise<WorkingSession[]> {
    const { client, t } = this.#parts;
    return client.query((s) =>
      places.flatMap(({ partition, after = "" }) =>
        s
          .all(t.sessions)
          .filter((row) => partitionOf(row.id) === partition && row.has_work && row.id > after)
          .map(({ id }) => ({ partition, sessionId: id }))
          .sort((a, b) => (a.sessionId < b.sessionId ? -1 : 1))
          .slice(0, OPEN_WORK_PAGE),
      ),
    );
  }

  ended(active: readonly ActiveSession[]): Promise<Ended[]> {
    const { client, t } = this.#parts;
    return client.query((s) =>
      active.flatMap(({ id, epoch }) => {
        const row = s.get(t.sessions, id);
        const isDeleted = row === undefined || row.status === "deleted";
        return isDeleted || row.epoch !== epoch ? [{ id, isDeleted }] : [];
      }),
    );
  }

  waiting(): Promise<number[]> {
    const { client, t } = this.#parts;
    return client.query((s) => {
      const rows = s.all(t.outbox).filter((row) => row.parked_at === null);
      return [...new Set(rows.map((row) => partitionOf(row.session_id)))].sort((a, b) => a - b);
    });
  }

  queues(places: readonly QueueCursor[]): Promise<CommandQueue[]> {
    const { client, t } = this.#parts;
    return client.query((s) =>
      places.flatMap(({ partition, after = "", olderThan }) => {
        const waiting = s
          .all(t.outbox)
          .filter((row) => partitionOf(row.session_id) === partition && row.parked_at === null);
        const sessions = [...new Set(waiting.map((row) => row.session_id))]
          .filter((id) => id > after)
          .sort()
          .slice(0, QUEUES_PAGE);
        return sessions.map((sessionId) => ({
          partition,
          sessionId,
          commands: waiting
            .filter((row) => row.session_id === sessionId && row.not_before <= s.now - olderThan)
            .sort(byTime)
            .slice(0, QUEUE_HEAD)
            .map(toCommand),
        }));
      }),
    );
  }

  commandsTo(sessionId: string): Promise<BacklogCommand[]> {
    const { client, t } = this.#parts;
    return client.query((s) =>
      s
        .all(t.outbox, sessionId)
        .filter((row) => row.parked_at === null)
        .sort(byTime)
        .slice(0, 500)
        .map(toCommand),
    );
  }

  failed({ sessionId, ids, reason }: FailedDelivery): Promise<ParkedCommand[]> {
    const { client, t } = this.#parts;
    return client.query(async (s) => {
      const parked: ParkedCommand[] = [];
      for (const { id } of s.all(t.outbox, sessionId)) {
        if (ids !== undefined && !ids.includes(id)) continue;
        const row = await s.update(
          t.outbox,
          id,
          ({ attempts }) => {
            const isLast = attempts + 1 >= MOST_ATTEMPTS;
            return {
              attempts: attempts + 1,
              not_before: s.now + Math.min(256, 2 ** attempts) * 1_000,
              parked_at: isLast ? s.now : null,
              parked_reason: isLast ? reason : null,
            };
          },
          (each) => each.parked_at === null,
        );
        if (row?.parked_at === undefined || row.parked_at === null) continue;
        parked.push({ id, type: toCommand(row).command.type });
      }
      return parked;
    });
  }
}

function byTime(a: OutboxTableRow, b: OutboxTableRow): number {
  return a.not_before - b.not_before || (a.id < b.id ? -1 : 1);
}

function toCommand(row: { id: string; session_id: string; command: string }): BacklogCommand {
  const command = JSON.parse(row.command) as BacklogCommand["command"];
  return { id: row.id, sessionId: row.session_id, command };
}
