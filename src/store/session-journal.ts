import {
  type DatabasePool,
  type DatabaseTransactionConnection,
  type FragmentSqlToken,
  sql,
} from "slonik";
import { z } from "zod";
import type { Batch, Journal, Loaded } from "../actor/journal.ts";
import { AppError, isAppError } from "../base/errors.ts";
import type { SessionEvent } from "../session/event.ts";
import type { SessionState } from "../session/state.ts";
import type { SessionWrite } from "../session/write.ts";
import { knownOutcomes, saveOutcomes } from "./command-outcomes.ts";
import { projectEvents } from "./projection.ts";
import { storeWrites } from "./session-writes.ts";
import { guarded } from "./store-error.ts";
import { enqueueJournalEvents } from "./webhook-events.ts";

type SessionBatch = Batch<SessionState, SessionEvent, SessionWrite>;
type Past = Loaded<SessionState, SessionEvent>;

/** Null or an object; what is in it was written by `append`. */
const isJson = (value: unknown): boolean => typeof value === "object";

const takeoverRow = z.object({ epoch: z.number(), seq: z.number() });
const pastRow = z.object({
  snapshot: z.custom<NonNullable<Past["snapshot"]> | null>(isJson),
  events: z.string(),
  outcomes: z.custom<Past["outcomes"]>(isJson),
});
const idRow = z.object({ id: z.string() });
const statusRow = z.object({ status: z.string() });

/**
 * The sessions' journal in PostgreSQL, with its projections in the same
 * transaction. The session's row is the fence: every append takes it, or is
 * refused, by status, epoch and seq, in the statement that writes its events.
 */
export class SessionJournal implements Journal<SessionState, SessionEvent, SessionWrite> {
  readonly #pool: DatabasePool;
  readonly #onFenced: () => void;

  /** `onFenced`: told of each append that came from a stale activation. */
  constructor(pool: DatabasePool, onFenced: () => void = () => {}) {
    this.#pool = pool;
    this.#onFenced = onFenced;
  }

  activate(id: string): Promise<Past | undefined> {
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

async function load(tx: DatabaseTransactionConnection, id: string): Promise<Past | undefined> {
  const taken = await tx.maybeOne(sql.type(takeoverRow)`
    update sessions set epoch = epoch + 1
    where id = ${id} and status <> 'deleted'
    returning epoch, seq`);
  if (taken === null) return undefined;
  // A statement of its own, after the row is taken: it sees what was appended until then. What is
  // many rows comes as one value, which costs a fraction.
  const { snapshot, events, outcomes } = await tx.one(sql.type(pastRow)`
    with newest as (select seq, version, state from snapshots where session_id = ${id})
    select
      (select json_build_object('seq', seq, 'version', version, 'state', state) from newest)
        as snapshot,
      (
        select '[' || coalesce(string_agg(
          '{"seq":' || seq || ',"at":' || extract(epoch from at) || ',"event":' || payload || '}',
          ',' order by seq), '') || ']'
        from events
        where session_id = ${id} and seq > coalesce((select seq from newest), 0)
      ) as events,
      (${knownOutcomes(id)}) as outcomes`);
  return {
    epoch: taken.epoch,
    seq: taken.seq,
    snapshot: snapshot ?? undefined,
    events: parseEvents(events),
    outcomes,
  };
}

/** Times come in seconds, with microseconds. */
function parseEvents(text: string): Past["events"] {
  const events = JSON.parse(text) as Past["events"];
  for (const event of events) event.at = Math.floor(Math.round(event.at * 1e6) / 1e3);
  return events;
}

async function appendBatch(tx: DatabaseTransactionConnection, batch: SessionBatch): Promise<void> {
  const passed = await tx.maybeOne(sql.type(idRow)`
    with fence as (${batch.events.length === 0 ? lockFence(batch) : moveFence(batch)}
    ), told as (${insertEvents(batch)}
    ), finished as (
      delete from outbox
      where id = any(${sql.array(batch.commandIds, "uuid")}) and exists (select from fence)
    )
    select id from fence`);
  if (passed === null) throw await refusal(tx, batch.id);
  await storeWrites(tx, batch.id, batch.writes);
  if (batch.events.length > 0) {
    await projectEvents(tx, batch.id, batch.events);
    await enqueueJournalEvents(tx, batch.id, batch.events);
  }
  if (batch.outcomes.length > 0) await saveOutcomes(tx, batch.id, batch.outcomes);
  if (batch.snapshot !== undefined) await saveSnapshot(tx, batch, batch.snapshot);
}

/** The session's row while it is as the activation knows it: its owner, its seq, not deleted. */
function asKnown({ id, epoch, expectedSeq }: SessionBatch): FragmentSqlToken {
  return sql.fragment`
    id = ${id} and epoch = ${epoch} and seq = ${expectedSeq} and status <> 'deleted'`;
}

function lockFence(batch: SessionBatch): FragmentSqlToken {
  return sql.fragment`select id from sessions where ${asKnown(batch)} for update`;
}

function moveFence(batch: SessionBatch): FragmentSqlToken {
  return sql.fragment`
    update sessions set seq = ${seqAfter(batch)}, updated_at = now()
    where ${asKnown(batch)} returning id`;
}

function insertEvents({ epoch, events }: SessionBatch): FragmentSqlToken {
  return sql.fragment`
    insert into events (session_id, seq, epoch, at, type, payload)
    select fence.id, e.seq, ${epoch}, to_timestamp(e.at / 1000), e.event->>'type', e.event
    from fence, jsonb_to_recordset(${JSON.stringify(events)}::jsonb)
      as e (seq bigint, at double precision, event jsonb)`;
}

async function refusal(tx: DatabaseTransactionConnection, id: string): Promise<AppError> {
  const session = await tx.maybeOne(sql.type(statusRow)`
    select status from sessions where id = ${id}`);
  if (session === null || session.status === "deleted") {
    return new AppError("session_deleted", "This session was deleted.");
  }
  return new AppError("stale_epoch", "Another activation of this session has taken over.");
}

function seqAfter({ expectedSeq, events }: SessionBatch): number {
  return expectedSeq + events.length;
}

async function saveSnapshot(
  tx: DatabaseTransactionConnection,
  batch: SessionBatch,
  snapshot: { version: number; state: SessionState },
): Promise<void> {
  const state = JSON.stringify(snapshot.state);
  await tx.query(sql.unsafe`
    insert into snapshots (session_id, seq, version, state)
    values (${batch.id}, ${seqAfter(batch)}, ${snapshot.version}, ${state}::jsonb)
    on conflict (session_id) do update
    set seq = excluded.seq, version = excluded.version, state = excluded.state, at = now()`);
}
