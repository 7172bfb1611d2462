import { History, Play } from "lucide-preact";
import type { VNode } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { ApiError } from "../../../../client/errors.ts";
import { messageOf } from "../../../api/client.ts";
import { Alert } from "../../../parts/alert.tsx";
import { readLine } from "../model/line-editing.ts";
import type { SessionModel } from "../model/session-model.ts";
import type { Line } from "../model/transcript-state.ts";

interface EditorProps {
  model: SessionModel;
  line: Line;
}

/**
 * Corrects a line's words as they are shown. Enter stores them, Tab goes on to the next line. What
 * somebody else has changed meanwhile is not overwritten unseen.
 */
export function LineEditor({ model, line }: EditorProps): VNode {
  const shown = model.wordsOf(line).join(" ");
  const [text, setText] = useState(shown);
  const [error, setError] = useState("");
  const [isBusy, setBusy] = useState(false);
  const [tag, setTag] = useState<string | undefined>();
  const field = useRef<HTMLTextAreaElement>(null);
  const readTag = async () => setTag((await readLine(model.id, line.id)).tag);
  useEffect(() => {
    field.current?.focus();
    readTag().catch(() => undefined);
  }, []);
  /** Stores what was changed, and then goes on. */
  const save = async (then: () => void) => {
    const wanted = text.trim();
    if (wanted === "") return;
    if (wanted === shown) return then();
    setBusy(true);
    setError("");
    try {
      await model.editing.correct(line, shown, wanted, tag);
      then();
    } catch (error) {
      const isStale = error instanceof ApiError && error.status === 412;
      if (isStale) await readTag().catch(() => undefined);
      const now = isStale ? ` It reads now: “${shown}”. Save again to replace that.` : "";
      setError(isStale ? `Somebody has changed this line.${now}` : messageOf(error));
      setBusy(false);
    }
  };
  const close = () => model.editing.close();
  const press = (event: KeyboardEvent) => {
    const { key, shiftKey } = event;
    if (key === "Escape") close();
    else if (key === "Enter" && !shiftKey) void save(close);
    else if (key === "Tab") void save(() => model.editing.move(line.id, shiftKey ? -1 : 1));
    else return;
    event.preventDefault();
  };
  return (
    <form
      class="line-editor"
      onSubmit={(event) => {
        event.preventDefault();
        void save(close);
      }}
    >
      <textarea
        ref={field}
        class="input"
        aria-label="The line's words"
        aria-describedby={`keys-${line.id}`}
        value={text}
        maxLength={10_000}
        onInput={({ currentTarget }) => setText(currentTarget.value)}
        onKeyDown={press}
      />
      <Alert text={error} isSmall />
      <div class="row">
        <button type="submit" class="button primary" disabled={isBusy || text.trim() === ""}>
          Save
        </button>
        <button type="button" class="button" onClick={close}>
          Cancel
        </button>
        {model.player.state.value === "ready" && (
          <button type="button" class="button" onClick={() => model.player.playFrom(line.start)}>
            <Play size={16} aria-hidden="true" /> Hear it
          </button>
        )}
        <button
          type="button"
          class="button"
          onClick={() => {
            close();
            model.editing.listedId.value = line.id;
          }}
        >
          <History size={16} aria-hidden="true" /> Changes
        </button>
        <span class="small soft" id={`keys-${line.id}`}>
          Enter saves, Tab goes to the next line, Esc cancels
        </span>
      </div>
    </form>
  );
}
