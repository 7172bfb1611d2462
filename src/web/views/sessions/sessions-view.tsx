import type { ComponentChildren, VNode } from "preact";
import { useEffect } from "preact/hooks";
import { call } from "../../api/client.ts";
import { chosenWorkspace, rememberWorkspace } from "../../parts/chosen-workspace.ts";
import { MoreButton } from "../../parts/page-list.tsx";
import { useResource } from "../../parts/resource.ts";
import { Awaited } from "../../parts/states.tsx";
import { ViewFrame } from "../../parts/view.tsx";
import { useWorkspaces } from "../../parts/workspaces.tsx";
import { IncomingFiles } from "../../uploads/incoming-files.tsx";
import { LanguageField, useSpokenLanguage } from "../../uploads/language-field.tsx";
import { UploadButton } from "../../uploads/upload-button.tsx";
import { UploadList } from "../../uploads/upload-row.tsx";
import { uploads } from "../../uploads/upload-state.ts";
import { withUploader } from "../../uploads/uploads.ts";
import { ListKeys } from "../search/list-keys.tsx";
import { SessionList } from "../session-list/session-list.tsx";
import "../session-list/sessions.css";
import {
  Fingerprint,
  Mail,
  Mic,
  MonitorSmartphone,
  Search,
  SlidersHorizontal,
} from "lucide-preact";
import { Link, useLocation } from "wouter-preact";
import type { Workspace } from "../../api/records.ts";
import { Choice } from "../../parts/fields.tsx";
import { NO_FILTERS, routeOf } from "../search/search-filters.ts";

const REFRESH_MS = 10_000;
const PAGE = 50;

/** Sessions that one may see: those that record now on top, the newest first. */
export function View(): VNode {
  const workspaces = useWorkspaces();
  const list = useResource(() => page(), []);
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
  const named = workspaces.state.kind === "ready" ? workspaces.state.value : [];
  const workspaceId = chosenWorkspace(named);
  const spoken = useSpokenLanguage(named.find(({ id }) => id === workspaceId));
  const { language } = spoken;
  const bring = (files: readonly File[]) =>
    void withUploader((uploader) => uploader.bring(files, { workspaceId, language }));
  const listed = list.state.kind === "ready" ? list.state.value : undefined;
  const isEmpty = listed?.items.length === 0;
  const isFirst = isEmpty && uploads.value.length === 0;
  const target = (
    <>
      <UploadTarget workspaces={named} onChoose={rememberWorkspace} />
      <LanguageField spoken={spoken} />
    </>
  );
  return (
    <ViewFrame
      title="Sessions"
      head={
        <>
          {!isFirst && <UploadButton class="button primary" onFiles={bring} />}
          {!isFirst && target}
          <SearchBox />
        </>
      }
    >
      <InvitationsNotice />
      <VoiceNotice />
      <IncomingFiles onFiles={bring} />
      <UploadList />
      <Awaited of={list} what="sessions" />
      {isFirst && <FirstSteps onFiles={bring}>{target}</FirstSteps>}
      {listed !== undefined && (
        <div class="stack">
          <SessionList sessions={listed.items} workspaces={named} />
          <MoreButton
            label="Show older ones"
            more={
              listed.next_cursor === null
                ? undefined
                : async () => {
                    const next = await page(listed.next_cursor ?? undefined);
                    list.set({ ...next, items: [...listed.items, ...next.items] });
                  }
            }
          />
        </div>
      )}
      <ListKeys />
    </ViewFrame>
  );
}

function page(cursor?: string) {
  const query = { limit: PAGE, cursor };
  return call((api) => api.GET("/sessions", { params: { query } }));
}

/** The way from a list to the search over all sessions: by words, or by what else they are. */
function SearchBox(): VNode {
  const [, navigate] = useLocation();
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    if (!(event.currentTarget instanceof HTMLFormElement)) return;
    const words = String(new FormData(event.currentTarget).get("words")).trim();
    if (words !== "") navigate(routeOf({ ...NO_FILTERS, words }));
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
          aria-keyshortcuts="/"
          required
        />
        <button type="submit" class="button icon" aria-label="Search">
          <Search size={17} aria-hidden="true" />
        </button>
        <Link class="button icon" href={routeOf(NO_FILTERS)} aria-label="Filter the sessions">
          <SlidersHorizontal size={17} aria-hidden="true" />
        </Link>
      </form>
    </search>
  );
}

interface FirstStepsProps {
  onFiles: (files: readonly File[]) => void;
  /** Where they go, if there is a choice. */
  children?: ComponentChildren;
}

/** What somebody sees who has no session yet: the ways to the first one. */
function FirstSteps({ onFiles, children }: FirstStepsProps): VNode {
  return (
    <div class="card first-steps">
      <h2>Your first session</h2>
      <p class="soft">
        Record a conversation with this browser's microphone, upload a recording that you have, or
        pair a device that records.
      </p>
      <div class="row">
        <Link class="button primary" href="/record">
          <Mic size={17} aria-hidden="true" /> Record from this browser
        </Link>
        <UploadButton onFiles={onFiles}>Upload files</UploadButton>
        {children}
        <Link class="button" href="/devices/pair">
          <MonitorSmartphone size={17} aria-hidden="true" /> Pair a device
        </Link>
      </div>
      <p class="soft small">
        Audio and video files may also be dropped anywhere here, or pasted. In a terminal,{" "}
        <code>npx voice upload FILE</code> does the same;{" "}
        <Link href="/terminal">how to log in there</Link>.
      </p>
    </div>
  );
}

/** A line above the list when somebody waits for an answer. */
function InvitationsNotice(): VNode | null {
  const { state } = useResource(() => call((api) => api.GET("/invitations")), []);
  const count = state.kind === "ready" ? state.value.items.length : 0;
  if (count === 0) return null;
  return (
    <p class="notice list-notice">
      <Mail size={18} aria-hidden="true" />
      <span>
        {count === 1 ? "You are invited. " : `You have ${count} invitations. `}
        <Link href="/invitations">See and answer</Link>
      </span>
    </p>
  );
}

/** A line above the list while a voice that was remembered has gone, until its person gives another or declines. */
function VoiceNotice(): VNode | null {
  const { state } = useResource(() => call((api) => api.GET("/users/me/voice")), []);
  if (state.kind !== "ready" || state.value.lapsed.length === 0) return null;
  return (
    <p class="notice list-notice">
      <Fingerprint size={18} aria-hidden="true" />
      <span>
        Your voice is not remembered any more, as voices are remembered in another way now.{" "}
        <Link href="/voice">Give a new one, or leave it</Link>
      </span>
    </p>
  );
}

interface TargetProps {
  workspaces: readonly Workspace[];
  onChoose: (id: string) => void;
}

/** Into which workspace files go; nothing for somebody who has a single one. */
function UploadTarget({ workspaces, onChoose }: TargetProps): VNode | null {
  if (workspaces.length < 2) return null;
  return (
    <Choice
      class="input filter"
      aria-label="Upload into the workspace"
      value={chosenWorkspace(workspaces)}
      of={workspaces.map(({ id, name }) => ({ id, name: `into ${name}` }))}
      onChoose={onChoose}
    />
  );
}
