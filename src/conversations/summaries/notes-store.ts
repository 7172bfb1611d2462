import { type CommonQueryMethods, type DatabasePool, sql } from "slonik";
import { z } from "zod";
import type { Clock } from "../../base/clock.ts";
import type { Log } from "../../base/log.ts";
import { WorkList } from "../../base/work/work-list.ts";
import { queueNotes } from "../jobs/note-jobs-store.ts";
import { noteTypesOf } from "./templates.ts";
import { readTemplate } from "./templates-store.ts";

const PAGE = 50;

interface AutomaticNotes {
  /** Of sessions that ended, or changed afterwards. */
  ended: WorkList<string>;
  /** Of sessions that still record. */
  live: WorkList<string>;
}

/** Queues the notes of sessions for which nobody has to ask. */
export function automaticNotes(
  notes: NotesStore,
  parts: { clock: Clock; log: Log },
): AutomaticNotes {
  const list = (read: (limit: number, except: readonly string[]) => Promise<readonly string[]>) =>
    new WorkList<string>({
      ...{ ...parts, page: PAGE, read, field: "session_id", trouble: "notes not queued" },
      keyOf: (id) => id,
      work: (id) => notes.enqueue(id),
    });
  return {
    ended: list((limit, except) => notes.due(limit, except)),
    live: list((limit, except) => notes.live(limit, except)),
  };
}

const idRow = z.object({ id: z.string() });
const sessionRow = z.object({ workspaceId: z.string(), isWanted: z.boolean() });
const nothing = z.object({});

/**
 * SQL condition: session `s` of workspace `w` gets notes by itself. Programs that call for a
 * transcript get none with it.
 */
export const WANTS_NOTES = sql.fragment`w.automatic_notes and s.compat is null
  and s.status in ('recording', 'completed')
  and exists (select from segments g where g.session_id = s.id and not g.redacted and g.text <> '')`;

/**
 * Which sessions want notes that nobody asked for, and the jobs that make them. Every method throws
 * `unavailable` when storage is away.
 */
export class NotesStore {
  readonly #pool: DatabasePool;

  constructor(pool: DatabasePool) {
    this.#pool = pool;
  }

  /** Sessions that ended, or whose words changed since their notes were made, longest due first. */
  async due(limit: number, except: readonly string[]): Promise<readonly string[]> {
    const rows = await this.#pool.any(sql.type(idRow)`
      select session_id as id from notes_due
      where due_at <= now() and session_id <> all(${sql.array([...except], "uuid")})
      order by due_at limit ${limit}`);
    return rows.map(({ id }) => id);
  }

  /**
   * Sessions that still record, in which something was said since their notes were made: five
   * minutes ago, or a tenth of the session's length.
   */
  async live(limit: number, except: readonly string[]): Promise<readonly string[]> {
    const rows = await this.#pool.any(sql.type(idRow)`
      select s.id
      from sessions s
      join workspaces w on w.id = s.workspace_id
      cross join lateral (
        select coalesce(max(j.created_at), s.started_at) as at
        from jobs j where j.session_id = s.id and j.automatic
      ) as made
      where s.status = 'recording' and ${WANTS_NOTES}
        and s.id <> all(${sql.array([...except], "uuid")})
        and now() - made.at > greatest(interval '5 minutes', (now() - s.started_at) / 10)
        and made.at < (
          select g.created_at from segments g where g.session_id = s.id
          order by g.start_sample desc limit 1)
      order by made.at, s.id
      limit ${limit}`);
    return rows.map(({ id }) => id);
  }

  /**
   * Queues the jobs of a session's notes, if it still wants some. While one of its summaries is
   * being made of the words as they were, it stays due.
   */
  enqueue(sessionId: string): Promise<void> {
    return this.#pool.transaction(async (tx) => {
      // The session first, as whoever appends to it locks that before it notes a change.
      const session = await tx.maybeOne(sql.type(sessionRow)`
        select s.workspace_id as "workspaceId", ${WANTS_NOTES} as "isWanted"
        from sessions s join workspaces w on w.id = s.workspace_id
        where s.id = ${sessionId} for share of s`);
      if (await isBeingSummarised(tx, sessionId)) return postpone(tx, sessionId);
      await tx.query(sql.unsafe`delete from notes_due where session_id = ${sessionId}`);
      if (session?.isWanted === true) {
        const types = noteTypesOf(await readTemplate(tx, sessionId));
        await queueNotes(tx, sessionId, session.workspaceId, types);
      }
    });
  }
}

function isBeingSummarised(tx: CommonQueryMethods, sessionId: string): Promise<boolean> {
  return tx.exists(sql.type(nothing)`
    select from jobs
    where kind = 'summarisation' and session_id = ${sessionId} and status = 'running'`);
}

async function postpone(tx: CommonQueryMethods, sessionId: string): Promise<void> {
  await tx.query(sql.unsafe`
    update notes_due set due_at = now() + interval '5 seconds' where session_id = ${sessionId}`);
}

/** One for each type that its template wants; one that somebody has asked for and that waits counts as one of them. */
