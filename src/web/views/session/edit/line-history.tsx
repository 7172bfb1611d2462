import { Undo2, X } from "lucide-preact";
import type { VNode } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { ApiError } from "../../../../client/errors.ts";
import { account } from "../../../api/account.ts";
import { call, messageOf } from "../../../api/client.ts";
import type { SegmentChange } from "../../../api/records.ts";
import { useResource } from "../../../parts/resource.ts";
import { Awaited } from "../../../parts/states.tsx";
import { momentOf } from "../../../parts/times.ts";
import { showToast } from "../../../parts/toasts.tsx";
import type { LineState } from "../model/edit-history.ts";
import { readLine } from "../model/line-editing.ts";
import type { SessionModel } from "../model/session-model.ts";
import type { Line } from "../model/transcript-state.ts";
import "./edit.css";

interface HistoryProps {
  model: SessionModel;
  line: Line;
}

/** Who changed the line, when, and how it read before; each can be put back. */
export function LineHistory({ model, line }: HistoryProps): VNode {
  const path = { session_id: model.id, segment_id: line.id };
  const { state, reload } = useResource(
    () =>
      call((api) =>
        api.GET("/sessions/{session_id}/segments/{segment_id}/history", { params: { path } }),
      ),
    // A change of the line is listed once it is there.
    [model.id, line.id, line.revision, line.speaker],
  );
  const closing = useRef<HTMLButtonElement>(null);
  useEffect(() => closing.current?.focus(), []);
  const close = () => {
    model.editing.listedId.value = undefined;
  };
  return (
    <section
      class="line-history"
      aria-label="Changes of this line"
      onKeyDown={(event) => {
        if (event.key !== "Escape") return;
        event.stopPropagation();
        close();
      }}
    >
      <div class="row">
        <h3 class="small">Changes of this line</h3>
        <button
          ref={closing}
          type="button"
          class="button quiet icon push"
          aria-label="Close the changes"
          onClick={close}
        >
          <X size={16} aria-hidden="true" />
        </button>
      </div>
      <Awaited of={{ state, reload }} what="the changes" lines={2} />
      {state.kind === "ready" && state.value.items.length === 0 && (
        <p class="small soft">Nobody has changed it: it reads as it was heard.</p>
      )}
      {state.kind === "ready" && (
        <ol>
          {state.value.items.map((change, n) => (
            <Changed key={`${change.at} ${n}`} model={model} line={line} change={change} />
          ))}
        </ol>
      )}
    </section>
  );
}

function Changed({ model, line, change }: HistoryProps & { change: SegmentChange }): VNode {
  const { at, by_name: name, by_user_id: by } = change;
  const { text_before: before, text_after: after } = change;
  const who = by === account.value?.id ? "You" : (name ?? "Somebody");
  const isMoved = change.speaker_before !== change.speaker_after;
  const back: Partial<LineState> = {
    ...(before !== undefined && { text: before }),
    ...(isMoved && { speaker: change.speaker_before }),
  };
  const isThere =
    (back.text === undefined || back.text === line.text) &&
    (back.speaker === undefined || back.speaker === line.speaker);
  const isLost = Object.keys(back).length === 0 || back.speaker === "UU";
  return (
    <li>
      <p class="small soft">{`${who}, ${momentOf(at)}`}</p>
      {isMoved && (
        <p class="small">
          {`${model.nameOf(change.speaker_before)} \u2192 ${model.nameOf(change.speaker_after)}`}
        </p>
      )}
      {before !== undefined && (
        <p class="small">
          <del>{before}</del> <ins>{after}</ins>
        </p>
      )}
      {!isThere && !isLost && (
        <button
          type="button"
          class="button quiet small"
          onClick={() => void putBack(model, line, back)}
        >
          <Undo2 size={14} aria-hidden="true" /> Put back
        </button>
      )}
    </li>
  );
}

/** The line as it was, as another change of it, which can be undone. */
async function putBack(model: SessionModel, line: Line, back: Partial<LineState>): Promise<void> {
  try {
    const { segment, tag } = await readLine(model.id, line.id);
    if (segment.text !== line.text) return showToast(THEIRS);
    await model.editing.change(line, back, tag);
    showToast("The line is as it was.");
  } catch (error) {
    showToast(error instanceof ApiError && error.status === 412 ? THEIRS : messageOf(error));
  }
}

const THEIRS = "Somebody has just changed this line: look at it again.";
