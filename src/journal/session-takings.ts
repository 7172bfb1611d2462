import { type DatabasePool, type DatabaseTransactionConnection, sql } from "slonik";
import { z } from "zod";
import type { Loaded, LoadFrom } from "../actor/journal.ts";
import { takeOver } from "../conversations/sessions/session-rows-store.ts";
import { knownOutcomes } from "../postgres/command-outcomes.ts";
import { GroupCommit } from "../postgres/group-commit.ts";
import { noSnapshot, ownSnapshot } from "../postgres/session-snapshots.ts";
import type { SessionEvent } from "../session/event.ts";

type Past = Loaded<SessionEvent>;

/** Most sessions that are taken over in one transaction. */
const MOST_TOGETHER = 50;
/** A session with more events after its snapshot is taken over separately. */
const MOST_REPLAYED = 1_000;
const ALONE = "alone";

/** Accepts null or an object, because the journal itself wrote the content. */
const isJson = (value: unknown): boolean => typeof value === "object";

const takenRow = z.object({
  id: z.string(),
  epoch: z.number(),
  seq: z.number(),
  hasWork: z.boolean(),
});
const pastRow = z.object({
  id: z.string(),
  now: z.number(),
  snapshot: z.custom<NonNullable<Past["snapshot"]> | null>(isJson),
  events: z.string(),
  outcomes: z.custom<Past["outcomes"]>(isJson),
});

type Taken = z.output<typeof takenRow>;

/**
 * Takes sessions over. Those requested at the same time share a transaction, because a host that
 * died may leave thousands behind. A session whose row is locked, or which has many events to
 * replay, is taken separately and does not delay the others.
 */
export class SessionTakings {
  readonly #pool: DatabasePool;
  readonly #groups: GroupCommit<string, Past | typeof ALONE>;

  constructor(pool: DatabasePool) {
    this.#pool = pool;
    this.#groups = new GroupCommit((ids) => this.#takeMany(ids), MOST_TOGETHER);
  }

  /** Implements `Journal.activate`. */
  async take(id: string): Promise<Past | undefined> {
    const taken = await this.#groups.add(id);
    return taken === ALONE ? this.#takeAlone(id) : taken;
  }

  /** Implements `Journal.load`. */
  load(id: string, from: LoadFrom): Promise<Past | undefined> {
    return this.#pool.transaction(async (tx) => {
      // The lock prevents appends between the reads.
      const held = await tx.maybeOne(sql.type(takenRow)`
        select id, epoch, seq, has_work as "hasWork" from sessions
        where id = ${id} and status <> 'deleted' for share`);
      return held === null ? undefined : (await readPasts(tx, [held], from)).get(id);
    });
  }

  async #takeMany(ids: readonly string[]): Promise<PromiseFulfilledResult<Past | typeof ALONE>[]> {
    const pasts = await this.#pool.transaction(async (tx) => {
      const taken = await tx.any(sql.type(takenRow)`
        with free as (
          select s.id from sessions s
          where s.id = any(${sql.array(ids, "uuid")}) and s.status <> 'deleted'
            and s.seq - coalesce(
              (select o.seq from (${ownSnapshot(sql.fragment`s.id`)}) as o), 0
              ) <= ${MOST_REPLAYED}
            order by s.id for update of s skip locked
          )
          ${takeOver(sql.fragment`from free where s.id = free.id`)}`);
      // A separate statement after the rows are locked, so that it sees everything appended until
      // then.
      return readPasts(tx, taken, "snapshot");
    });
    return ids.map((id) => {
      const value = pasts.get(id) ?? ALONE;
      // A second request for the same session in this group takes it over again.
      pasts.delete(id);
      return { status: "fulfilled", value };
    });
  }

  #takeAlone(id: string): Promise<Past | undefined> {
    return this.#pool.transaction(async (tx) => {
      const taken = await tx.maybeOne(sql.type(takenRow)`
        ${takeOver(sql.fragment`where s.id = ${id} and s.status <> 'deleted'`)}`);
      return taken === null ? undefined : (await readPasts(tx, [taken], "snapshot")).get(id);
    });
  }
}

/** Reads the events of each session as one JSON value, which costs a fraction of separate rows. */
async function readPasts(
  tx: DatabaseTransactionConnection,
  taken: readonly Taken[],
  from: LoadFrom,
): Promise<Map<string, Past>> {
  const id = sql.fragment`t.id`;
  const ids = taken.map((each) => each.id);
  const rows = await tx.any(sql.type(pastRow)`
    select
      t.id,
      clock_timestamp() as now,
      case when newest.seq is not null
        then json_build_object('seq', newest.seq, 'state', newest.state) end as snapshot,
      (
        select '[' || coalesce(string_agg(
          '{"seq":' || seq || ',"at":' || extract(epoch from at) || ',"event":' || payload || '}',
          ',' order by seq), '') || ']'
        from events
        where session_id = t.id and seq > coalesce(newest.seq, 0)
      ) as events,
      (${knownOutcomes(id)}) as outcomes
    from unnest(${sql.array(ids, "uuid")}) as t (id)
      left join lateral (${from === "snapshot" ? ownSnapshot(id) : noSnapshot()}) as newest on true`);
  const pasts = new Map(rows.map((row) => [row.id, row]));
  const found = new Map<string, Past>();
  for (const { id, ...row } of taken) {
    const past = pasts.get(id);
    if (past === undefined) continue;
    const { now, snapshot, events, outcomes } = past;
    const parsed = parseEvents(events);
    found.set(id, { ...row, now, snapshot: snapshot ?? undefined, events: parsed, outcomes });
  }
  return found;
}

/** The database returns times in seconds with microseconds. */
function parseEvents(text: string): Past["events"] {
  const events = JSON.parse(text) as Past["events"];
  for (const event of events) event.at = Math.floor(Math.round(event.at * 1e6) / 1e3);
  return events;
}
