import { DoorOpen, Search, Waypoints } from "lucide-preact";
import type { VNode } from "preact";
import { useEffect, useState } from "preact/hooks";
import { Link, useLocation } from "wouter-preact";
import { account } from "../../api/account.ts";
import { elevationsEnded } from "../../api/elevation.ts";
import { Empty, Failure } from "../../parts/states.tsx";
import { StatusChip } from "../../parts/status-chip.tsx";
import { momentOf } from "../../parts/times.ts";
import { ViewFrame } from "../../parts/view.tsx";
import { AskPane } from "./ask-pane.tsx";
import { ConcernsPane } from "./concerns-pane.tsx";
import { ConnectionChip } from "./connection-chip.tsx";
import { UndoButtons } from "./edit/undo-buttons.tsx";
import { ExportMenu } from "./export/export-menu.tsx";
import { SessionKeys } from "./find/session-keys.tsx";
import { HiddenWords } from "./hidden-words.tsx";
import { MarkButton, MarkNote, MarksPane } from "./marks/marks-pane.tsx";
import { SessionModel } from "./model/session-model.ts";
import { NotesPane } from "./notes/notes-pane.tsx";
import { PlayerBar } from "./player-bar.tsx";
import { SessionActions } from "./session-actions.tsx";
import { SpokenLog } from "./spoken-log.tsx";
import { TranscriptPane } from "./transcript-pane.tsx";
import { SpeakersPane } from "./voices/speakers-pane.tsx";
import "./session.css";

interface Params {
  id?: string;
  /** Milliseconds on the session's timeline, to be shown first. */
  at?: string;
}

/** A session: its words live or read again, who spoke, and what one can ask of it. */
export function View({ params }: { params: Params }): VNode | null {
  const { id = "", at } = params;
  const [model, setModel] = useState<SessionModel | undefined>();
  // What an elevation opened goes with it; whoever may read without one has it back at once.
  const ended = elevationsEnded.value;
  useEffect(() => {
    const opened = new SessionModel(id);
    opened.start();
    setModel(opened);
    return () => opened.close();
  }, [id, ended]);
  const ms = at !== undefined && /^\d{1,9}$/.test(at) ? Number(at) : undefined;
  useEffect(() => {
    if (model !== undefined && ms !== undefined) model.jumpTo(ms);
  }, [model, ms]);
  return model === undefined || model.id !== id ? null : (
    <Opened key={`${id} ${ended}`} model={model} />
  );
}

const PANES = [
  { id: "words", label: "Words" },
  { id: "notes", label: "Notes" },
  { id: "ask", label: "Ask" },
  { id: "marks", label: "Marks" },
  { id: "speakers", label: "Speakers" },
  { id: "concerns", label: "Concerns" },
] as const;

type PaneId = (typeof PANES)[number]["id"];

function Opened({ model }: { model: SessionModel }): VNode {
  const [, navigate] = useLocation();
  const session = model.session.value;
  const link = model.link.value;
  if (link.kind === "refused") {
    return <Refused model={model} reason={link.reason} code={link.code} />;
  }
  const head = (
    <>
      {session && <StatusChip status={session.status} />}
      <ConnectionChip model={model} />
      {session && <span class="soft small">{momentOf(session.started_at)}</span>}
      <div class="row push">
        <button type="button" class="button" onClick={() => model.search.open()}>
          <Search size={16} aria-hidden="true" /> <span>Find</span>
        </button>
        {model.mayMark && <MarkButton marks={model.marks} at={() => model.momentMs} />}
        <UndoButtons editing={model.editing} />
        <ExportMenu model={model} />
        {account.value?.kind === "user" && (
          <Link class="button" href={`/sessions/${model.id}/graph`}>
            <Waypoints size={16} aria-hidden="true" /> <span>Graph</span>
          </Link>
        )}
        <SessionActions model={model} onDeleted={() => navigate("/")} />
      </div>
    </>
  );
  return (
    <div class="session">
      <ViewFrame title={session?.title || "Conversation"} head={head}>
        {model.warning.value !== "" && (
          <p class="notice" data-tone="warn" role="status">
            {model.warning.value}
          </p>
        )}
        <Panes model={model} />
        <MarkNote marks={model.marks} />
        <PlayerBar model={model} />
        <SpokenLog model={model} />
        <SessionKeys model={model} />
      </ViewFrame>
    </div>
  );
}

interface RefusedProps {
  model: SessionModel;
  reason: string;
  code: string;
}

/** In the place of words that one may not read: the ways to them that there are. */
function Refused({ model, reason, code }: RefusedProps): VNode {
  const session = model.session.value;
  const isGated = code === "elevation_required" || code === "4403";
  if (isGated && session !== undefined) {
    return (
      <ViewFrame title={session.title || "Session"}>
        <HiddenWords model={model} />
      </ViewFrame>
    );
  }
  const isStranger = code === "forbidden" && account.value?.kind === "user";
  return (
    <ViewFrame title="Session">
      {isStranger ? (
        <Empty
          title="You are not a part of this conversation"
          next={
            <>
              <Link class="button primary" href={`/join/${model.id}`}>
                <DoorOpen size={16} aria-hidden="true" /> Join as a guest
              </Link>
              <Link class="button" href="/">
                To your sessions
              </Link>
            </>
          }
        >
          <p>
            If guests are let in, you can read along as one, and stay signed in. Its owner can also
            invite you.
          </p>
        </Empty>
      ) : (
        <>
          <Failure error={new Error(reason)} retry={() => model.reopen()} />
          {account.value?.kind === "user" && (
            <div class="state">
              <Link class="button" href="/">
                To your sessions
              </Link>
            </div>
          )}
        </>
      )}
    </ViewFrame>
  );
}

function Panes({ model }: { model: SessionModel }): VNode {
  const isWide = useIsWide();
  const isFinding = model.search.isOpen.value;
  // On a phone the words are one of the parts; else another part always stands beside them.
  const [isWords, setWords] = useState(true);
  const [side, setSide] = useState<PaneId>(account.value?.kind === "guest" ? "ask" : "notes");
  // The field to find words stands above them.
  useEffect(() => {
    if (isFinding) setWords(true);
  }, [isFinding]);
  const pane = isWords ? "words" : side;
  const chosen = isWide ? side : pane;
  const showWords = () => {
    setWords(true);
    // On a phone the link that was pressed is not shown any more. What was drawn last may be of another width.
    if (!matchMedia(WIDE).matches) setTimeout(() => focusWords());
  };
  return (
    <div class="session-panes" data-pane={pane}>
      <div
        class="tabs session-tabs"
        role="tablist"
        aria-label="Parts of the session"
        onKeyDown={(event) => moveAmongTabs(event)}
      >
        {PANES.map(({ id, label }) => (
          <button
            key={id}
            type="button"
            role="tab"
            data-tab={id}
            aria-selected={chosen === id}
            data-side={side === id}
            onClick={() => {
              setWords(id === "words");
              if (id !== "words") setSide(id);
            }}
          >
            {label}
          </button>
        ))}
      </div>
      <div class="session-words">
        <TranscriptPane model={model} />
      </div>
      <section class="session-side" aria-label={PANES.find(({ id }) => id === side)?.label}>
        {/* Asked questions stay while one looks at something else. */}
        <div hidden={side !== "ask"}>
          <AskPane model={model} onJump={showWords} />
        </div>
        {side === "notes" && <NotesPane model={model} onJump={showWords} />}
        {side === "marks" && <MarksPane model={model} onJump={showWords} />}
        {side === "speakers" && <SpeakersPane model={model} />}
        {side === "concerns" && <ConcernsPane model={model} onJump={showWords} />}
      </section>
    </div>
  );
}

/** As in session.css: where the words and another part stand side by side. */
const WIDE = "(min-width: 62.01rem)";

function useIsWide(): boolean {
  const [isWide, setWide] = useState(() => matchMedia(WIDE).matches);
  useEffect(() => {
    const query = matchMedia(WIDE);
    const look = () => setWide(query.matches);
    look();
    query.addEventListener("change", look);
    return () => query.removeEventListener("change", look);
  }, []);
  return isWide;
}

function focusWords(): void {
  document.querySelector<HTMLElement>(".transcript-scroll")?.focus({ preventScroll: true });
}

/** The arrows go from tab to tab, as people who use the keyboard expect of tabs. */
function moveAmongTabs(event: KeyboardEvent & { currentTarget: HTMLElement }): void {
  const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
  if (step === undefined) return;
  const tabs = [...event.currentTarget.querySelectorAll<HTMLElement>("[role=tab]")];
  const shown = tabs.filter((tab) => tab.offsetParent !== null);
  const at = shown.indexOf(document.activeElement as HTMLElement);
  const next = shown[(at + step + shown.length) % shown.length];
  event.preventDefault();
  next?.focus();
  next?.click();
}
