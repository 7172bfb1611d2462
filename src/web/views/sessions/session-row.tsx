import { ChevronRight, Lock, Users } from "lucide-preact";
import type { VNode } from "preact";
import { Link } from "wouter-preact";
import type { Session } from "../../api/records.ts";
import { StatusChip } from "../../parts/status-chip.tsx";
import { lengthOf, momentOf } from "../../parts/times.ts";

interface SessionRowProps {
  session: Session;
  workspace: string | undefined;
}

/** A session in a list; all of it leads there. */
export function SessionRow({ session, workspace }: SessionRowProps): VNode {
  const { id, title, status, started_at: start, stopped_at: stop, visibility } = session;
  const end = stop === undefined ? Date.now() : Date.parse(stop);
  const Seen = visibility === "workspace" ? Users : Lock;
  return (
    <li>
      <Link class="session-row" href={`/sessions/${id}`}>
        <span class="session-title">{title || "Untitled conversation"}</span>
        <span class="session-facts">
          <span>{momentOf(start)}</span>
          <span>{lengthOf(end - Date.parse(start))}</span>
          {workspace !== undefined && <span>{workspace}</span>}
          <span class="row">
            <Seen size={13} aria-hidden="true" />
            {visibility === "workspace" ? "shared with the workspace" : "private"}
          </span>
        </span>
        <StatusChip status={status} />
        <ChevronRight size={18} aria-hidden="true" class="soft" />
      </Link>
    </li>
  );
}
