import { DoorOpen, Lock, Redo2, Search, Undo2, Waypoints } from "lucide-preact";
import type { VNode } from "preact";
import { useEffect, useState } from "preact/hooks";
import { Link, useLocation } from "wouter-preact";
import { account } from "../../api/account.ts";
import { elevationsEnded } from "../../api/elevation.ts";
import { ElevationForm } from "../../parts/elevation-form.tsx";
import { Empty, Failure } from "../../parts/states.tsx";
import { StatusChip } from "../../parts/status-chip.tsx";
import { lengthOf, momentOf } from "../../parts/times.ts";
import { ViewFrame } from "../../parts/view.tsx";
import { AskPane } from "./ask-pane.tsx";
import { ConcernsPane } from "./concerns-pane.tsx";
import { ExportMenu } from "./export/export-menu.tsx";
import { SessionKeys } from "./find/session-keys.tsx";
import { MarkButton, MarkNote, MarksPane } from "./marks/marks-pane.tsx";
import type { LineEditing } from "./model/line-editing.ts";
import { SessionModel } from "./model/session-model.ts";
import { NotesPane } from "./notes/notes-pane.tsx";
import { PlayerBar } from "./player-bar.tsx";
import { SessionActions } from "./session-actions.tsx";
import { TranscriptPane } from "./transcript-pane.tsx";
import { SpeakersPane } from "./voices/speakers-pane.tsx";
import "./session.css";

const SHOWN_LAG_MS = 1_500;

/** How the connection does, how far the text is behind, and how the device does. */
function ConnectionChip({ model }: { model: SessionModel }): VNode | null {
  const link = model.link.value;
  const beat = model.heartbeat.value;
  if (link.kind === "connecting") return <span class="chip">Connecting …</span>;
  if (link.kind === "waiting") {
    return (
      <span class="row" role="status">
        <span class="chip" data-tone="warn" title={link.reason}>
          Connection lost, trying again
        </span>
        <button type="button" class="button quiet small" onClick={() => model.retry()}>
          Now
        </button>
      </span>
    );
  }
  if (!model.isLive) return null;
  const { lag_ms: lag = 0, device } = beat ?? {};
  return (
    <>
      <span class="chip" data-tone={lag > 10_000 ? "warn" : undefined}>
        {lag > SHOWN_LAG_MS ? `text ${lengthOf(lag)} behind` : "connected"}
      </span>
      {device && (
        <span class="chip" data-tone={device.presence === "offline" ? "warn" : undefined}>
          {device.presence === "offline" ? "device offline" : "device online"}
          {device.battery_percent !== undefined &&
            `, battery ${Math.round(device.battery_percent)} %`}
        </span>
      )}
    </>
  );
}

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

/** In the place of words that an administrator sees only with a reason, which is on record. */
function HiddenWords({ model }: { model: SessionModel }): VNode {
  const who = account.value;
  if (who?.kind !== "user" || who.role !== "admin") {
    return <p class="state">You may not read this session.</p>;
  }
  return (
    <section class="card stack elevation" aria-labelledby="hidden-words">
      <h2 class="row" id="hidden-words">
        <Lock size={18} aria-hidden="true" /> The words are hidden
      </h2>
      <p class="soft">
        You are not a part of this session. With a reason, which stands in the audit log with every
        read, they are open to you for a while.
      </p>
      <ElevationForm place={{ session_id: model.id }} onOpen={() => model.reopen()} />
    </section>
  );
}

/**
 * Final sentences for screen readers, apart from the text that is read with the eyes: said when the
 * person has time to listen, and only while it is wanted.
 */
function SpokenLog({ model }: { model: SessionModel }): VNode {
  const [isOn, setOn] = useState(true);
  return (
    <div class="hidden-text">
      <button type="button" aria-pressed={isOn} onClick={() => setOn(!isOn)}>
        Announce new sentences
      </button>
      <div role="log" aria-live="polite" aria-label="New sentences">
        {isOn &&
          model.spoken.value.map(({ id, speaker, text }) => (
            <p key={id}>{`${model.nameOf(speaker)}: ${text}`}</p>
          ))}
      </div>
    </div>
  );
}

/** Take the last correction back, or do it again; there once something was corrected. */
function UndoButtons({ editing }: { editing: LineEditing }): VNode | null {
  const { canUndo, canRedo } = editing.history;
  if (!canUndo.value && !canRedo.value) return null;
  return (
    <>
      <button
        type="button"
        class="button icon"
        aria-label="Undo the correction"
        disabled={!canUndo.value}
        onClick={() => void editing.undo()}
      >
        <Undo2 size={16} aria-hidden="true" />
      </button>
      <button
        type="button"
        class="button icon"
        aria-label="Redo the correction"
        disabled={!canRedo.value}
        onClick={() => void editing.redo()}
      >
        <Redo2 size={16} aria-hidden="true" />
      </button>
    </>
  );
}
