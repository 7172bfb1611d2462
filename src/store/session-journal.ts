import { type DatabasePool, type DatabaseTransactionConnection, sql } from "slonik";
import { z } from "zod";
import type { Batch, Journal, Loaded } from "../actor/journal.ts";
import { AppError, isAppError } from "../base/errors.ts";
import type { SessionEvent } from "../session/event.ts";
import type { SessionState } from "../session/state.ts";
import type { SessionWrite } from "../session/write.ts";
import { loadOutcomes, saveOutcomes } from "./command-outcomes.ts";
import { projectEvents } from "./projection.ts";
import { storeWrites } from "./session-writes.ts";
import { guarded } from "./store-error.ts";
import { enqueueJournalEvents } from "./webhook-events.ts";

type SessionBatch = Batch<SessionState, SessionEvent, SessionWrite>;

const takeoverRow = z.object({ epoch: z.number(), seq: z.number() });
const snapshotRow = z.object({ seq: z.number(), version: z.number(), state: z.unknown() });
const eventRow = z.object({ seq: z.number(), at: z.number(), payload: z.unknown() });
const fenceRow = z.object({ status: z.string(), epoch: z.number(), seq: z.number() });

/**
 * The sessions' journal in PostgreSQL, with its projections in the same
 * transaction. The session's row is the fence: every append locks it and checks
 * status, epoch and seq there.
 */
export class SessionJournal implements Journal<SessionState, SessionEvent, SessionWrite> {
  readonly #pool: DatabasePool;
  readonly #onFenced: () => void;

  /** `onFenced`: told of each append that came from a stale activation. */
  constructor(pool: DatabasePool, onFenced: () => void = () => {}) {
    this.#pool = pool;
    this.#onFenced = onFenced;
  }

  activate(id: string): Promise<Loaded<SessionState, SessionEvent> | undefined> {
    return guarded(() => this.#pool.transaction((tx) => load(tx, id)));
  }

  async append(batch: SessionBatch): Promise<void> {
    try {
      await guarded(() => this.#pool.transaction((tx) => appendBatch(tx, batch), 0));
    } catch (error) {
      if (isAppError(error, "stale_epoch")) this.#onFenced();
      throw error;
    }
  }
}

async function load(
  tx: DatabaseTransactionConnection,
  id: string,
): Promise<Loaded<SessionState, SessionEvent> | undefined> {
  const taken = await tx.maybeOne(sql.type(takeoverRow)`
    update sessions set epoch = epoch + 1
    where id = ${id} and status <> 'deleted'
    returning epoch, seq`);
  if (taken === null) return undefined;
  const snapshot = await tx.maybeOne(sql.type(snapshotRow)`
    select seq, version, state from snapshots where session_id = ${id}`);
  const events = await tx.any(sql.type(eventRow)`
    select seq, at, payload from events
    where session_id = ${id} and seq > ${snapshot?.seq ?? 0}
    order by seq`);
  return {
    epoch: taken.epoch,
    seq: taken.seq,
    outcomes: await loadOutcomes(tx, id),
    snapshot:
      snapshot === null ? undefined : { ...snapshot, state: snapshot.state as SessionState },
    events: events.map(({ seq, at, payload }) => ({ seq, at, event: payload as SessionEvent })),
  };
}

async function appendBatch(tx: DatabaseTransactionConnection, batch: SessionBatch): Promise<void> {
  const fence = await tx.maybeOne(sql.type(fenceRow)`
    select status, epoch, seq from sessions where id = ${batch.id} for update`);
  if (fence === null || fence.status === "deleted") {
    throw new AppError("session_deleted", "This session was deleted.");
  }
  if (fence.epoch !== batch.epoch || fence.seq !== batch.expectedSeq) {
    throw new AppError("stale_epoch", "Another activation of this session has taken over.");
  }
  await storeWrites(tx, batch.id, batch.writes);
  if (batch.events.length > 0) {
    await insertEvents(tx, batch);
    await projectEvents(tx, batch.id, batch.events);
    await enqueueJournalEvents(tx, batch.id, batch.events);
  }
  if (batch.commandIds.length > 0) {
    await tx.query(sql.unsafe`
      delete from outbox where id = any(${sql.array(batch.commandIds, "uuid")})`);
  }
  if (batch.outcomes.length > 0) await saveOutcomes(tx, batch.id, batch.outcomes);
  if (batch.snapshot !== undefined) await saveSnapshot(tx, batch, batch.snapshot);
}

async function insertEvents(tx: DatabaseTransactionConnection, batch: SessionBatch): Promise<void> {
  const rows = batch.events.map(({ seq, at, event }) => [
    seq,
    new Date(at).toISOString(),
    event.type,
    JSON.stringify(event),
  ]);
  await tx.query(sql.unsafe`
    insert into events (session_id, seq, epoch, at, type, payload)
    select ${batch.id}, e.seq, ${batch.epoch}, e.at, e.type, e.payload
    from ${sql.unnest(rows, ["int8", "timestamptz", "text", "jsonb"])} as e (seq, at, type, payload)`);
  const seq = batch.expectedSeq + batch.events.length;
  await tx.query(sql.unsafe`
    update sessions set seq = ${seq}, updated_at = now() where id = ${batch.id}`);
}

async function saveSnapshot(
  tx: DatabaseTransactionConnection,
  batch: SessionBatch,
  snapshot: { version: number; state: SessionState },
): Promise<void> {
  const seq = batch.expectedSeq + batch.events.length;
  const state = JSON.stringify(snapshot.state);
  await tx.query(sql.unsafe`
    insert into snapshots (session_id, seq, version, state)
    values (${batch.id}, ${seq}, ${snapshot.version}, ${state}::jsonb)
    on conflict (session_id) do update
    set seq = excluded.seq, version = excluded.version, state = excluded.state, at = now()`);
}
