import { Mic, MicOff, Pause, Square } from "lucide-preact";
import type { VNode } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { Link } from "wouter-preact";
import { clockTime } from "../../../wire/clock-time.ts";
import { isTyping } from "../../parts/keys.tsx";
import { MarkButton, MarkedSoFar, MarkNote } from "../session/marks/marks-pane.tsx";
import { SessionModel } from "../session/model/session-model.ts";
import { MicrophoneField } from "./microphone-field.tsx";
import {
  changeMicrophone,
  isConnected,
  isPaused,
  level,
  notice,
  pauseRecording,
  recordedSeconds,
  stopRecording,
} from "./recorder.ts";

/** What is quieter, 0 to 1, is no voice: about -50 decibels below full scale. */
const QUIET = 0.003;
/** So long nothing is heard before it is told, milliseconds. */
const QUIET_MS = 8_000;
/** Newest lines that are shown. */
const LINES = 4;

/** A running recording: how long, how loud, its newest words, and what one can do with it. */
export function Cockpit({ sessionId }: { sessionId: string }): VNode {
  const isSilent = useSilence();
  const model = useSession(sessionId);
  useMarkKey(model);
  return (
    <div class="card stack cockpit">
      {model && <Title model={model} />}
      <p class="row">
        <span class="chip" data-tone={isPaused.value ? "warn" : "live"}>
          {!isPaused.value && <span class="pulse" aria-hidden="true" />}{" "}
          {isPaused.value ? "Paused" : "Recording"}
        </span>
        {!isConnected.value && (
          <span class="chip" data-tone="warn" role="status">
            Connection lost; the sound is kept here and follows
          </span>
        )}
      </p>
      <p class="cockpit-clock" role="timer" aria-label="Recorded">
        {clockTime(Math.floor(recordedSeconds.value))}
      </p>
      <Meter />
      {notice.value !== "" && (
        <p class="notice" data-tone="warn" role="alert">
          {notice.value}
        </p>
      )}
      {notice.value === "" && isSilent && (
        <p class="notice" data-tone="warn" role="status">
          <MicOff size={16} aria-hidden="true" /> Nothing is heard. Is the microphone muted, or the
          wrong one?
        </p>
      )}
      <div class="row">
        <button type="button" class="button" onClick={pauseRecording}>
          {isPaused.value ? (
            <>
              <Mic size={16} aria-hidden="true" /> Go on
            </>
          ) : (
            <>
              <Pause size={16} aria-hidden="true" /> Pause
            </>
          )}
        </button>
        <button type="button" class="button danger" onClick={stopRecording}>
          <Square size={15} aria-hidden="true" /> Finish
        </button>
        {model && <MarkButton marks={model.marks} at={() => recordedSeconds.value * 1_000} />}
        <Link class="button push" href={`/sessions/${sessionId}`}>
          Read along
        </Link>
      </div>
      <MicrophoneField onChoose={changeMicrophone} />
      {model && <MarkNote marks={model.marks} />}
      {model && <MarkedSoFar marks={model.marks} />}
      {model && <NewestWords model={model} />}
    </div>
  );
}

/** What it is about, where that was said. */
function Title({ model }: { model: SessionModel }): VNode | null {
  const title = model.session.value?.title ?? "";
  return title === "" ? null : <h2>{title}</h2>;
}

/** True when nothing was heard for some seconds although it records. */
function useSilence(): boolean {
  const [isSilent, setSilent] = useState(false);
  const heardAt = useRef(Date.now());
  useEffect(() => {
    const stop = level.subscribe((loudest) => {
      if (loudest <= QUIET && !isPaused.peek()) return;
      heardAt.current = Date.now();
      setSilent(false);
    });
    const timer = setInterval(() => setSilent(Date.now() - heardAt.current > QUIET_MS), 1_000);
    return () => {
      stop();
      clearInterval(timer);
    };
  }, []);
  return isSilent;
}

/** The session as it is heard; undefined for the first moment. */
function useSession(sessionId: string): SessionModel | undefined {
  const [model, setModel] = useState<SessionModel | undefined>();
  useEffect(() => {
    const opened = new SessionModel(sessionId);
    opened.start();
    setModel(opened);
    return () => opened.close();
  }, [sessionId]);
  return model;
}

/** The key of the cockpit; nothing while somebody types. */
function useMarkKey(model: SessionModel | undefined): void {
  useEffect(() => {
    if (model === undefined) return undefined;
    const stop = new AbortController();
    const press = (event: KeyboardEvent) => {
      if (event.key !== "m" || isTyping(event) || event.ctrlKey || event.metaKey || event.altKey)
        return;
      event.preventDefault();
      model.marks.add(recordedSeconds.value * 1_000);
    };
    addEventListener("keydown", press, { signal: stop.signal });
    return () => stop.abort();
  }, [model]);
}

/** The newest lines as they are recognised. */
function NewestWords({ model }: { model: SessionModel }): VNode {
  const lines = model.lines.value.slice(-LINES);
  return (
    <section class="cockpit-words" aria-label="Newest words">
      {lines.length === 0 && <p class="soft">The first words appear here.</p>}
      {lines.map((line) => (
        <p key={line.id} data-final={line.isFinal}>
          {/* Who speaks is known some words later. */}
          {(line.isFinal || line.speaker !== "UU") && (
            <span class="soft small">{model.nameOf(line.speaker)} </span>
          )}
          {line.text}
        </p>
      ))}
    </section>
  );
}

const QUIETEST_DB = -60;

/** How loud it is, in decibels below full scale, so that speech fills half of it. */
function Meter(): VNode {
  const decibels = level.value === 0 ? QUIETEST_DB : 20 * Math.log10(level.value);
  const share = Math.max(0, Math.min(1, 1 - decibels / QUIETEST_DB));
  return (
    <meter
      class="meter"
      aria-label="Level of the microphone"
      min={0}
      max={100}
      value={Math.round(share * 100)}
    />
  );
}
