import { Bookmark, Pencil, Trash2 } from "lucide-preact";
import type { VNode } from "preact";
import { useLayoutEffect, useRef } from "preact/hooks";
import { clockTime } from "../../../../wire/clock-time.ts";
import type { SessionMarks, ShownMark } from "../model/session-marks.ts";
import type { SessionModel } from "../model/session-model.ts";
import "./marks.css";

const MOST_TEXT = 2_000;

interface ButtonProps {
  marks: SessionMarks;
  /** The moment, milliseconds on the session's timeline, when it is pressed. */
  at: () => number;
}

export function MarkButton({ marks, at }: ButtonProps): VNode {
  return (
    <button type="button" class="button" aria-keyshortcuts="m" onClick={() => marks.add(at())}>
      <Bookmark size={16} aria-hidden="true" /> <span>Mark</span>
    </button>
  );
}

/** Takes a few words for the mark that was made or chosen; nothing without one. */
export function MarkNote({ marks }: { marks: SessionMarks }): VNode | null {
  const key = marks.open.value;
  const mark = marks.list.value.find((each) => each.key === key);
  if (mark === undefined) return null;
  return <NoteForm key={key} marks={marks} mark={mark} />;
}

function NoteForm({ marks, mark }: { marks: SessionMarks; mark: ShownMark }): VNode {
  const field = useRef<HTMLInputElement>(null);
  useLayoutEffect(() => {
    const before = document.activeElement;
    field.current?.focus();
    return () => {
      if (before instanceof HTMLElement && before.isConnected) before.focus();
    };
  }, []);
  const save = () => marks.write(mark.key, field.current?.value ?? "");
  return (
    <form
      class="row mark-note"
      onSubmit={(event) => {
        event.preventDefault();
        save();
      }}
    >
      <span class="small" role="status">{`Marked ${clockTime(mark.atMs / 1_000)}`}</span>
      <input
        ref={field}
        class="input"
        aria-label="A few words about the moment"
        placeholder="A few words, if you like"
        maxLength={MOST_TEXT}
        defaultValue={mark.text}
        onKeyDown={(event) => {
          if (event.key !== "Escape") return;
          event.stopPropagation();
          marks.open.value = undefined;
        }}
      />
      <button type="submit" class="button">
        Save
      </button>
    </form>
  );
}

/** How many moments of a running recording were marked, the newest with its words. */
export function MarkedSoFar({ marks }: { marks: SessionMarks }): VNode | null {
  const list = marks.list.value;
  const newest = list.at(-1);
  if (newest === undefined) return null;
  const count = list.length === 1 ? "1 mark" : `${list.length} marks`;
  const what = `${clockTime(newest.atMs / 1_000)} ${newest.text}`.trim();
  return <p class="soft small">{`${count}, the last at ${what}`}</p>;
}

interface PaneProps {
  model: SessionModel;
  onJump: () => void;
}

/** The marked moments of a session; each leads there. */
export function MarksPane({ model, onJump }: PaneProps): VNode {
  const { marks } = model;
  const list = marks.list.value;
  return (
    <div class="stack">
      {list.length === 0 && (
        <>
          <p class="soft small">
            Nothing is marked yet. A mark keeps a moment, with a few words, for everybody who reads
            along.
          </p>
          {model.mayMark && (
            <div>
              <MarkButton marks={marks} at={() => model.momentMs} />
            </div>
          )}
        </>
      )}
      <ul class="moments">
        {list.map((mark) => (
          <li key={mark.key} class="mark">
            <button
              type="button"
              class="moment"
              onClick={() => {
                onJump();
                model.jumpTo(mark.atMs);
              }}
            >
              <span class="moment-at">
                {clockTime(mark.atMs / 1_000)}
                {!mark.isMine && mark.author !== "" && ` ${mark.author}`}
              </span>
              <span>{mark.text || <span class="soft">No words</span>}</span>
            </button>
            <MarkDeeds model={model} mark={mark} />
          </li>
        ))}
      </ul>
    </div>
  );
}

function MarkDeeds({ model, mark }: { model: SessionModel; mark: ShownMark }): VNode {
  const { marks } = model;
  const at = clockTime(mark.atMs / 1_000);
  return (
    <span class="row">
      {mark.isMine && (
        <button
          type="button"
          class="button quiet icon"
          aria-label={`Write about the mark at ${at}`}
          onClick={() => {
            marks.open.value = mark.key;
          }}
        >
          <Pencil size={15} aria-hidden="true" />
        </button>
      )}
      {mark.id !== undefined && (mark.isMine || model.mayEdit) && (
        <button
          type="button"
          class="button quiet icon"
          aria-label={`Delete the mark at ${at}`}
          onClick={() => void marks.remove(mark.key)}
        >
          <Trash2 size={15} aria-hidden="true" />
        </button>
      )}
    </span>
  );
}
