import { Search } from "lucide-preact";
import type { VNode } from "preact";
import { useEffect, useState } from "preact/hooks";
import { useLocation } from "wouter-preact";
import { call, messageOf } from "../../api/client.ts";
import type { Session, Workspace } from "../../api/records.ts";
import { useResource } from "../../parts/resource.ts";
import { Empty, Failure, Loading } from "../../parts/states.tsx";
import { tell } from "../../parts/toasts.tsx";
import { ViewFrame } from "../../parts/view.tsx";
import { IncomingFiles } from "../../uploads/incoming-files.tsx";
import { UploadButton } from "../../uploads/upload-button.tsx";
import { UploadList } from "../../uploads/upload-list.tsx";
import { isUnfinished, uploads } from "../../uploads/upload-state.ts";
import { withUploader } from "../../uploads/uploads.ts";
import { FirstSteps } from "./first-steps.tsx";
import { InvitationsNotice } from "./invitations-notice.tsx";
import { SessionRow } from "./session-row.tsx";
import "./sessions.css";

type Status = Session["status"];

interface Filters {
  readonly workspaceId: string;
  readonly status: "" | Status;
  readonly title: string;
}

const NONE: Filters = { workspaceId: "", status: "", title: "" };
const REFRESH_MS = 10_000;

/** Sessions that one may see: those that record now on top, the newest first. */
export function View(): VNode {
  const [filters, setFilters] = useState(NONE);
  const { workspaceId, status } = filters;
  const workspaces = useResource(
    () => call((api) => api.GET("/workspaces", { params: { query: { limit: 100 } } })),
    [],
  );
  const list = useResource(() => page(workspaceId, status), [workspaceId, status]);
  useEffect(() => {
    const timer = setInterval(() => {
      // Further pages that somebody opened stay; the beginning alone is looked at again.
      const isFirst = list.state.kind === "ready" && list.state.value.items.length <= PAGE;
      if (document.visibilityState === "visible" && isFirst) list.reload();
    }, REFRESH_MS);
    return () => clearInterval(timer);
  }, [list.state, list.reload]);
  const sent = uploads.value.filter(({ phase }) => phase.kind === "done").length;
  useEffect(() => {
    // The sessions of files that have come, and the workspace that was made for the first of them.
    if (sent === 0) return;
    list.reload();
    workspaces.reload();
  }, [sent]);
  const named = workspaces.state.kind === "ready" ? workspaces.state.value.items : [];
  const isFiltered = workspaceId !== "" || status !== "";
  const bring = (files: readonly File[]) =>
    void withUploader((uploader) => uploader.bring(files, workspaceId));
  const isEmpty = list.state.kind === "ready" && list.state.value.items.length === 0;
  const isFirst = isEmpty && !isFiltered && uploads.value.length === 0;
  return (
    <ViewFrame title="Sessions" head={<Head onFiles={isFirst ? undefined : bring} />}>
      <InvitationsNotice />
      <IncomingFiles onFiles={bring} />
      <UploadList />
      {(!isEmpty || isFiltered) && (
        <FilterBar filters={filters} workspaces={named} onChange={setFilters} />
      )}
      {list.state.kind === "loading" && <Loading what="sessions" />}
      {list.state.kind === "failed" && <Failure error={list.state.error} retry={list.reload} />}
      {isFirst && <FirstSteps onFiles={bring} />}
      {list.state.kind === "ready" && (!isEmpty || isFiltered) && (
        <Listed
          sessions={list.state.value.items}
          title={filters.title}
          workspaces={named}
          more={list.state.value.next_cursor}
          onMore={async (cursor) => {
            const next = await page(workspaceId, status, cursor);
            const before = list.state.kind === "ready" ? list.state.value.items : [];
            list.set({ ...next, items: [...before, ...next.items] });
          }}
        />
      )}
    </ViewFrame>
  );
}

const PAGE = 50;

function page(workspaceId: string, status: Filters["status"], cursor?: string) {
  const query = {
    limit: PAGE,
    ...(workspaceId === "" ? {} : { workspace_id: workspaceId }),
    ...(status === "" ? {} : { status }),
    ...(cursor === undefined ? {} : { cursor }),
  };
  return call((api) => api.GET("/sessions", { params: { query } }));
}

/** The way in for files, where the first steps do not have it, and the search. */
function Head({ onFiles }: { onFiles: ((files: readonly File[]) => void) | undefined }): VNode {
  return (
    <>
      {onFiles && <UploadButton class="button primary" onFiles={onFiles} />}
      <SearchBox />
    </>
  );
}

/** Searches what was said, in all workspaces. */
function SearchBox(): VNode {
  const [, navigate] = useLocation();
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    if (!(event.currentTarget instanceof HTMLFormElement)) return;
    const words = String(new FormData(event.currentTarget).get("words")).trim();
    if (words !== "") navigate(`/search/${encodeURIComponent(words)}`);
  };
  return (
    <search class="search-box push">
      <form class="row" onSubmit={submit}>
        <input
          class="input"
          name="words"
          type="search"
          placeholder="Search what was said"
          aria-label="Search what was said"
          required
        />
        <button type="submit" class="button icon" aria-label="Search">
          <Search size={17} aria-hidden="true" />
        </button>
      </form>
    </search>
  );
}

interface FilterBarProps {
  filters: Filters;
  workspaces: readonly Workspace[];
  onChange: (filters: Filters) => void;
}

const STATUSES: readonly { value: Filters["status"]; label: string }[] = [
  { value: "", label: "Any state" },
  { value: "recording", label: "Live" },
  { value: "processing", label: "Being finished" },
  { value: "completed", label: "Completed" },
  { value: "failed", label: "Failed" },
];

function FilterBar({ filters, workspaces, onChange }: FilterBarProps): VNode {
  return (
    <div class="row filters">
      <input
        class="input"
        type="search"
        placeholder="Filter by title"
        aria-label="Filter by title"
        value={filters.title}
        onInput={({ currentTarget }) => onChange({ ...filters, title: currentTarget.value })}
      />
      <select
        class="input"
        aria-label="Workspace"
        value={filters.workspaceId}
        onChange={({ currentTarget }) => onChange({ ...filters, workspaceId: currentTarget.value })}
      >
        <option value="">All workspaces</option>
        {workspaces.map(({ id, name }) => (
          <option key={id} value={id}>
            {name}
          </option>
        ))}
      </select>
      <select
        class="input"
        aria-label="State"
        value={filters.status}
        onChange={({ currentTarget }) => {
          const chosen = STATUSES.find(({ value }) => value === currentTarget.value);
          if (chosen) onChange({ ...filters, status: chosen.value });
        }}
      >
        {STATUSES.map(({ value, label }) => (
          <option key={value} value={value}>
            {label}
          </option>
        ))}
      </select>
    </div>
  );
}

interface ListedProps {
  sessions: readonly Session[];
  title: string;
  workspaces: readonly Workspace[];
  more: string | null;
  onMore: (cursor: string) => Promise<void>;
}

/** A file that has come is not live, although its session takes sound until it is stored. */
function withoutRecorder(session: Session): Session {
  const isFile = uploads.value.some(({ sessionId }) => sessionId === session.id);
  return isFile && session.status === "recording" ? { ...session, status: "processing" } : session;
}

const UNDER_WAY: readonly Status[] = ["recording", "processing"];
/** Sessions whose progress is asked for, each by itself. */
const MOST_FOLLOWED = 10;

function Listed({ sessions, title, workspaces, more, onMore }: ListedProps): VNode {
  const [isBusy, setBusy] = useState(false);
  const names = new Map(workspaces.map(({ id, name }) => [id, name]));
  const wanted = title.trim().toLowerCase();
  // A file that is still being sent shows as an upload, and nothing is live in it.
  const sending = new Set(uploads.value.filter(isUnfinished).map((each) => each.sessionId));
  const shown = sessions
    .filter(({ id, title: name }) => name.toLowerCase().includes(wanted) && !sending.has(id))
    .map(withoutRecorder);
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
  const load = async () => {
    if (more === null) return;
    setBusy(true);
    await onMore(more).catch((error: unknown) => tell(messageOf(error)));
    setBusy(false);
  };
  return (
    <div class="stack">
      {live.length > 0 && (
        <section aria-labelledby="live-now">
          <h2 id="live-now">Live now</h2>
          {rows(live)}
        </section>
      )}
      {rest.length > 0 && (
        <section aria-labelledby="earlier">
          <h2 id="earlier">{live.length > 0 ? "Earlier" : "Newest first"}</h2>
          {rows(rest)}
        </section>
      )}
      {shown.length === 0 && sessions.some(({ id }) => !sending.has(id)) && (
        <Empty title="No session fits">
          <p>{more === null ? "Choose less narrowly." : "Among those that are loaded, that is."}</p>
        </Empty>
      )}
      {more !== null && (
        <button type="button" class="button" disabled={isBusy} onClick={() => void load()}>
          Show older ones
        </button>
      )}
    </div>
  );
}
