import { ChevronRight, Lock, Users } from "lucide-preact";
import type { VNode } from "preact";
import { useEffect, useState } from "preact/hooks";
import { Link } from "wouter-preact";
import { account } from "../../api/account.ts";
import { call } from "../../api/client.ts";
import type { Session } from "../../api/records.ts";
import { StatusChip } from "../../parts/status-chip.tsx";
import { lengthOf, momentOf } from "../../parts/times.ts";
import { TranscriptionProgress, useTranscriptionProgress } from "./transcription-progress.tsx";

/** Asked for once each; accounts have few names. */
const known = new Map<string, Promise<string>>();

/** Whose session it is, for administrators, who see those of others; "" where that is not to be told. */
function useOwnerName(ownerId: string | undefined): string {
  const who = account.value;
  const isTold =
    who?.kind === "user" && who.role === "admin" && ownerId !== undefined && ownerId !== who.id;
  const [name, setName] = useState("");
  useEffect(() => {
    if (!isTold) return undefined;
    let isWanted = true;
    const asked = known.get(ownerId) ?? nameOf(ownerId);
    known.set(ownerId, asked);
    void asked.then((found) => isWanted && setName(found));
    return () => {
      isWanted = false;
    };
  }, [isTold, ownerId]);
  return isTold ? name : "";
}

async function nameOf(id: string): Promise<string> {
  const params = { path: { id } };
  const found = await call((api) => api.GET("/users/{id}", { params })).catch(() => undefined);
  return found?.name || found?.email || "somebody else";
}

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
  const reading = useTranscriptionProgress(id, isGoing && isFollowed);
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
          <TranscriptionProgress title={shownTitle} reading={reading} />
        )}
        <StatusChip status={status} />
        <ChevronRight size={18} aria-hidden="true" class="soft" />
      </Link>
    </li>
  );
}
