import {
  type CommonQueryMethods,
  type DatabasePool,
  type DatabaseTransactionConnection,
  type FragmentSqlToken,
  sql,
} from "slonik";
import { z } from "zod";
import type { Appended, Batch, Journal, Loaded, LoadFrom } from "../actor/journal.ts";
import { AppError, isAppError } from "../base/errors.ts";
import { chunkChanges } from "../conversations/recording/chunk-states-store.ts";
import { moveSession } from "../conversations/sessions/session-rows-store.ts";
import { type Change, type Wave, type Work, wavesOf } from "../postgres/append-work.ts";
import { outcomeChanges } from "../postgres/command-outcomes.ts";
import { finishCommands } from "../postgres/outbox.ts";
import { snapshotChanges } from "../postgres/session-snapshots.ts";
import type { SessionEvent } from "../session/event.ts";
import type { SessionWrite } from "../session/write.ts";
import { webhookChanges } from "../tenancy/webhooks/queue-store.ts";
import { eventWork } from "./projection.ts";
import { SessionTakings } from "./session-takings.ts";
import { writeChanges } from "./session-writes.ts";

type SessionBatch = Batch<SessionEvent, SessionWrite>;
type Past = Loaded<SessionEvent>;

const passedRow = z.object({ now: z.number(), tooLate: z.boolean() });
const standingRow = z.object({
  now: z.number(),
  status: z.string(),
  epoch: z.number(),
  landed: z.number(),
});

/**
 * The sessions' journal in PostgreSQL, with its projections in the same transaction. The session's
 * row is the fence: every append locks it, and is refused by its status, epoch and seq in the
 * statement that writes the events.
 */
export class SessionJournal implements Journal<SessionEvent, SessionWrite> {
  readonly #pool: DatabasePool;
  readonly #onFenced: () => void;
  readonly #takings: SessionTakings;

  /** `onFenced` is called for each append of a stale activation. */
  constructor(pool: DatabasePool, onFenced: () => void = () => {}) {
    this.#pool = pool;
    this.#onFenced = onFenced;
    this.#takings = new SessionTakings(pool);
  }

  activate(id: string): Promise<Past | undefined> {
    return this.#takings.take(id);
  }

  load(id: string, from: LoadFrom): Promise<Past | undefined> {
    return this.#takings.load(id, from);
  }

  async append(batch: SessionBatch): Promise<Appended> {
    try {
      return await this.#append(batch);
    } catch (error) {
      if (isAppError(error, "stale_epoch")) this.#onFenced();
      throw error;
    }
  }

  /**
   * Appends in one round trip, unless a part must see what the batch wrote before it, or there is a
   * deadline, which can be checked only after all else is done.
   */
  async #append(batch: SessionBatch): Promise<Appended> {
    const waves = wavesOf(workOf(batch));
    if (waves.length > 1 || batch.deadline !== undefined) {
      return this.#pool.transaction((tx) => appendInSteps(tx, batch, waves), 0);
    }
    const passed = await pass(this.#pool, batch, waves[0]);
    return passed === null ? landedBefore(this.#pool, batch) : { now: passed.now };
  }
}

async function appendInSteps(
  tx: DatabaseTransactionConnection,
  batch: SessionBatch,
  [first, ...later]: ReturnType<typeof wavesOf>,
): Promise<Appended> {
  const passed = await pass(tx, batch, first);
  if (passed === null) return landedBefore(tx, batch);
  if (passed.tooLate) throw new AppError("too_late", "The time for this is over.");
  for (const wave of later) await carryOut(tx, wave);
  return { now: passed.now };
}

/** The changes of an append besides events and outbox, in their logical order. */
function workOf({ id, events, writes, outcomes, snapshot, ...batch }: SessionBatch): Work[] {
  const seq = seqAfter({ events, ...batch });
  return [
    ...writeChanges(id, writes),
    ...chunkChanges(id, events),
    ...events.flatMap(({ event, at }) => eventWork(id, event, at)),
    ...webhookChanges(id, events),
    ...outcomeChanges(id, outcomes),
    ...(snapshot === undefined ? [] : snapshotChanges({ id, seq, ...snapshot })),
  ];
}

async function carryOut(tx: DatabaseTransactionConnection, wave: Wave): Promise<void> {
  if (typeof wave === "function") return wave(tx);
  const always = sql.fragment`true`;
  await tx.query(sql.unsafe`with ${parts(wave, always)} select`);
}

/** Combines changes as parts of one statement. */
function parts(changes: readonly Change[], when: FragmentSqlToken): FragmentSqlToken {
  const each = changes.map((change, n) => {
    return sql.fragment`${sql.identifier([`change_${n}`])} as (${change.sql(when)})`;
  });
  return sql.fragment`${sql.join(each, sql.fragment`, `)}`;
}

/**
 * Writes the first changes of a batch. Null, and nothing is changed, when the session's row does
 * not match the activation.
 */
function pass(
  connection: CommonQueryMethods,
  batch: SessionBatch,
  changes: readonly Change[],
): Promise<z.output<typeof passedRow> | null> {
  const { deadline = null } = batch;
  const isPassed = sql.fragment`exists (select from fence)`;
  // The time is taken after the wait for the row's lock.
  return connection.maybeOne(sql.type(passedRow)`
    /* planned once */ with fence as (${changesRow(batch) ? moveFence(batch) : lockFence(batch)}
    ), told as (${insertEvents(batch)}
    ), finished as (
      ${finishCommands(batch.commandIds, isPassed)}
    )${changes.length === 0 ? sql.fragment`` : sql.fragment`, ${parts(changes, isPassed)}`}
    select clock_timestamp() as now,
      coalesce(clock_timestamp() > to_timestamp(${deadline}::double precision / 1000), false)
        as "tooLate"
    from fence`);
}

/** SQL condition: the session's row matches the activation in owner and seq, and is not deleted. */
function asKnown({ id, epoch, expectedSeq }: SessionBatch): FragmentSqlToken {
  return sql.fragment`
    id = ${id} and epoch = ${epoch} and seq = ${expectedSeq} and status <> 'deleted'`;
}

function lockFence(batch: SessionBatch): FragmentSqlToken {
  return sql.fragment`select id from sessions where ${asKnown(batch)} for update`;
}

function changesRow({ events, hasWork }: SessionBatch): boolean {
  return events.length > 0 || hasWork !== undefined;
}

function moveFence(batch: SessionBatch): FragmentSqlToken {
  const { events, hasWork } = batch;
  const moved = { seq: seqAfter(batch), hasEvents: events.length > 0, hasWork };
  return moveSession(moved, asKnown(batch));
}

function insertEvents({ epoch, events }: SessionBatch): FragmentSqlToken {
  return sql.fragment`
    insert into events (session_id, seq, epoch, at, type, payload)
    select fence.id, e.seq, ${epoch}, to_timestamp(e.at / 1000), e.event->>'type', e.event
    from fence, jsonb_to_recordset(${JSON.stringify(events)}::jsonb)
      as e (seq bigint, at double precision, event jsonb)`;
}

/**
 * Accepts a batch that was stored before, because the answer to an append may be lost. Throws the
 * reason of any other refusal.
 */
async function landedBefore(
  tx: CommonQueryMethods,
  { id, epoch, events }: SessionBatch,
): Promise<Appended> {
  const session = await tx.maybeOne(sql.type(standingRow)`
    select clock_timestamp() as now, status, epoch, (
      select count(*)::int
      from events as e
      join jsonb_to_recordset(${JSON.stringify(events)}::jsonb)
        as b (seq bigint, at double precision, event jsonb) on b.seq = e.seq
      where e.session_id = ${id} and e.epoch = ${epoch} and e.payload = b.event
        and e.at = to_timestamp(b.at / 1000)
    ) as landed
    from sessions where id = ${id}`);
  if (session === null || session.status === "deleted") {
    throw new AppError("session_deleted", "This session was deleted.");
  }
  const isOwn = session.epoch === epoch && events.length > 0 && session.landed === events.length;
  if (isOwn) return { now: session.now };
  throw new AppError("stale_epoch", "Another activation of this session has taken over.");
}

function seqAfter({ expectedSeq, events }: Pick<SessionBatch, "expectedSeq" | "events">): number {
  return expectedSeq + events.length;
}
