import { Pencil } from "lucide-preact";
import type { VNode } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { clockTime } from "../../../wire/clock-time.ts";
import { speakerColour } from "../../parts/speaker-colour.ts";
import { LineEditor } from "./edit/line-editor.tsx";
import { LineHistory } from "./edit/line-history.tsx";
import type { Hit } from "./model/find-words.ts";
import type { SessionModel } from "./model/session-model.ts";
import type { Line } from "./model/transcript-state.ts";
import { VoiceMenu } from "./voices/voice-menu.tsx";

interface LineProps {
  model: SessionModel;
  line: Line;
  /** True where another speaker begins. */
  isTurn: boolean;
}

/** An utterance: who, when, and words; a press on a word plays from it. */
export function TranscriptLine({ model, line, isTurn }: LineProps): VNode {
  const isEditing = model.editing.lineId.value === line.id;
  return (
    <article class="line" data-final={line.isFinal} data-turn={isTurn} data-segment={line.id}>
      <div class="line-who" style={{ "--speaker": `var(${speakerColour(line.speaker)})` }}>
        {isTurn && <VoiceMenu model={model} line={line} />}
      </div>
      <div class="line-said">
        <button
          type="button"
          class="line-time"
          aria-label={`Play from ${clockTime(line.start)}`}
          onClick={() => model.player.playFrom(line.start)}
        >
          {clockTime(line.start)}
        </button>
        {isEditing ? <LineEditor model={model} line={line} /> : <Words model={model} line={line} />}
        <Besides names={model.besides(line)} />
        <Edited model={model} line={line} />
        {line.isFinal && model.mayEdit && !isEditing && (
          <button
            type="button"
            class="button quiet icon line-edit"
            aria-label={`Correct the line at ${clockTime(line.start)}`}
            onClick={() => model.editing.open(line)}
          >
            <Pencil size={15} aria-hidden="true" />
          </button>
        )}
      </div>
    </article>
  );
}

/** That people have changed the line's words, and for those who may see them what. */
function Edited({ model, line }: { model: SessionModel; line: Line }): VNode | null {
  const { listedId } = model.editing;
  if (listedId.value === line.id) return <LineHistory model={model} line={line} />;
  if (!line.isFinal || line.revision < 2) return null;
  if (!model.mayEdit) return <span class="line-besides soft small">edited</span>;
  return (
    <p class="line-besides">
      <button
        type="button"
        class="line-edited"
        aria-label={`Edited: changes of the line at ${clockTime(line.start)}`}
        onClick={() => {
          listedId.value = line.id;
        }}
      >
        edited
      </button>
    </p>
  );
}

/** How the word is marked that stands in a hit of what somebody looks for. */
function hitAt(hits: readonly Hit[], current: Hit | undefined, n: number): string | undefined {
  const hit = hits.find(({ first, last }) => n >= first && n <= last);
  if (hit === undefined) return undefined;
  const isCurrent = current?.lineId === hit.lineId && current.first === hit.first;
  return isCurrent ? "current" : "other";
}

function Besides({ names }: { names: readonly string[] }): VNode | null {
  if (names.length === 0) return null;
  const verb = names.length === 1 ? "speaks" : "speak";
  return <p class="line-besides soft small">{`${names.join(" and ")} ${verb} at the same time`}</p>;
}

function Words({ model, line }: { model: SessionModel; line: Line }): VNode {
  const box = useRef<HTMLParagraphElement>(null);
  const { words = [] } = line;
  const shown = model.wordsOf(line);
  const isTimed = words.length === shown.length;
  const unclear = new Set(line.unclear);
  const hits = model.search.byLine.value.get(line.id) ?? [];
  const current = model.search.current.value;
  useEffect(() => {
    if (!isTimed) return undefined;
    let before: Element | undefined;
    return model.player.time.subscribe((time) => {
      const isHere = model.player.isPlaying.peek() && time >= line.start && time <= line.end;
      const at = isHere ? words.findIndex((word) => time < word.end) : -1;
      const now = at < 0 ? undefined : box.current?.children[at];
      if (now === before) return;
      before?.removeAttribute("data-now");
      now?.setAttribute("data-now", "");
      before = now;
    });
  }, [isTimed, words]);
  const play = (event: MouseEvent) => {
    const at = event.target instanceof HTMLElement ? event.target.dataset.at : undefined;
    // Words that somebody marks to copy are not played.
    if (at === undefined || String(getSelection()) !== "") return;
    model.player.playFrom(words[Number(at)]?.start ?? line.start);
  };
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: by keyboard a line is played with its time's button
    <p ref={box} class="line-words" onClick={play}>
      {shown.map((word, n) => (
        <span
          key={n}
          data-at={n}
          data-soft={!line.isFinal && n >= (line.stableWords ?? 0) ? "" : undefined}
          data-unclear={unclear.has(n) ? "" : undefined}
          data-hit={hitAt(hits, current, n)}
          title={unclear.has(n) ? "Not heard clearly" : undefined}
        >
          {`${word} `}
        </span>
      ))}
    </p>
  );
}
