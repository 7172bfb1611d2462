import type { Clock } from "../../base/clock.ts";
import type { Log } from "../../base/log.ts";
import { WorkList } from "../../base/work/work-list.ts";
import type { NotesStore } from "./notes-store.ts";

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
