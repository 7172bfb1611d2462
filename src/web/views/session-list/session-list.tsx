import type { VNode } from "preact";
import type { Session, Workspace } from "../../api/records.ts";
import { isUnfinished, uploads } from "../../uploads/upload-state.ts";
import { SessionRow } from "./session-row.tsx";
import "./sessions.css";

interface SessionListProps {
  sessions: readonly Session[];
  workspaces: readonly Workspace[];
  /** What stands above those that are not live; by default, what they are. */
  heading?: string;
}

/** A file that has come is not live, although its session takes sound until it is stored. */
function withoutRecorder(session: Session): Session {
  const isFile = uploads.value.some(({ sessionId }) => sessionId === session.id);
  return isFile && session.status === "recording" ? { ...session, status: "processing" } : session;
}

const UNDER_WAY: readonly Session["status"][] = ["recording", "processing"];
/** Sessions whose progress is asked for, each by itself. */
const MOST_FOLLOWED = 10;

/** Sessions, those that record now on top. What is still being uploaded is not among them. */
export function SessionList({ sessions, workspaces, heading }: SessionListProps): VNode {
  const names = new Map(workspaces.map(({ id, name }) => [id, name]));
  // A file that is still being sent shows as an upload, and nothing is live in it.
  const sending = new Set(uploads.value.filter(isUnfinished).map((each) => each.sessionId));
  const shown = sessions.filter(({ id }) => !sending.has(id)).map(withoutRecorder);
  const followed = new Set(
    shown.filter(({ status }) => UNDER_WAY.includes(status)).slice(0, MOST_FOLLOWED),
  );
  const live = shown.filter(({ status }) => status === "recording");
  const rest = shown.filter(({ status }) => status !== "recording");
  const rows = (list: readonly Session[]) => (
    <ul class="session-list">
      {list.map((each) => (
        <SessionRow
          key={each.id}
          session={each}
          workspace={names.get(each.workspace_id)}
          isFollowed={followed.has(each)}
        />
      ))}
    </ul>
  );
  return (
    <>
      {live.length > 0 && (
        <section aria-labelledby="live-now">
          <h2 id="live-now">Live now</h2>
          {rows(live)}
        </section>
      )}
      {rest.length > 0 && (
        <section aria-labelledby="earlier">
          <h2 id="earlier">{heading ?? (live.length > 0 ? "Earlier" : "Newest first")}</h2>
          {rows(rest)}
        </section>
      )}
    </>
  );
}
