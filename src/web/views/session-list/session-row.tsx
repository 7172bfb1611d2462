import { ChevronRight, Lock, Users } from "lucide-preact";
import type { VNode } from "preact";
import { Link } from "wouter-preact";
import type { Session } from "../../api/records.ts";
import { StatusChip } from "../../parts/status-chip.tsx";
import { lengthOf, momentOf } from "../../parts/times.ts";
import { useOwnerName } from "./owner-name.ts";
import { ReadingProgress, useReading } from "./reading-progress.tsx";

interface SessionRowProps {
  session: Session;
  workspace: string | undefined;
  /** Its progress is asked for, while it has not ended. */
  isFollowed: boolean;
}

/** A session in a list; all of it leads there. */
export function SessionRow({ session, workspace, isFollowed }: SessionRowProps): VNode {
  const { id, title, status, started_at: start, visibility, tags } = session;
  const isGoing = status === "recording" || status === "processing";
  const reading = useReading(id, isGoing && isFollowed);
  // What was recorded, and not how long ago it began: an hour is uploaded in a minute.
  const recordedMs = session.duration_ms ?? (reading && reading.received_seconds * 1_000);
  const Seen = visibility === "workspace" ? Users : Lock;
  const owner = useOwnerName(session.owner_id);
  const shownTitle = title || "Untitled conversation";
  return (
    <li>
      <Link class="session-row" href={`/sessions/${id}`}>
        <span class="session-title">{shownTitle}</span>
        <span class="session-facts">
          <span>{momentOf(start)}</span>
          {recordedMs !== undefined && recordedMs > 0 && <span>{lengthOf(recordedMs)}</span>}
          {owner !== "" && <span>{`of ${owner}`}</span>}
          {workspace !== undefined && <span>{workspace}</span>}
          <span class="row">
            <Seen size={13} aria-hidden="true" />
            {visibility === "workspace" ? "shared with the workspace" : "private"}
          </span>
          {tags.map((tag) => (
            <span key={tag} class="chip">
              {tag}
            </span>
          ))}
        </span>
        {status === "processing" && reading !== undefined && (
          <ReadingProgress title={shownTitle} reading={reading} />
        )}
        <StatusChip status={status} />
        <ChevronRight size={18} aria-hidden="true" class="soft" />
      </Link>
    </li>
  );
}
