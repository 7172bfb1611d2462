import type { VNode } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { ApiFailure, call, messageOf } from "../../api/client.ts";
import type { SessionModel } from "./session-model.ts";
import type { Line } from "./transcript-state.ts";

interface EditorProps {
  model: SessionModel;
  line: Line;
  onDone: () => void;
}

/** Corrects a line's words. What somebody else has changed meanwhile is not overwritten unseen. */
export function LineEditor({ model, line, onDone }: EditorProps): VNode {
  const [text, setText] = useState(line.text);
  const [told, setTold] = useState("");
  const [isBusy, setBusy] = useState(false);
  const [tag, setTag] = useState<string | undefined>();
  const field = useRef<HTMLTextAreaElement>(null);
  const path = { session_id: model.id, segment_id: line.id };
  const look = async () => {
    const { response } = await callSegment(path);
    setTag(response.headers.get("etag") ?? undefined);
  };
  useEffect(() => {
    field.current?.focus();
    look().catch(() => undefined);
  }, []);
  const save = async () => {
    setBusy(true);
    setTold("");
    try {
      const params = { path, ...(tag === undefined ? {} : { header: { "If-Match": tag } }) };
      await call((api) =>
        api.PATCH("/sessions/{session_id}/segments/{segment_id}", {
          params,
          body: { text: text.trim() },
        }),
      );
      onDone();
    } catch (error) {
      const isStale = error instanceof ApiFailure && error.status === 412;
      if (isStale) await look().catch(() => undefined);
      const now = isStale ? ` It reads now: “${line.text}”. Save again to replace that.` : "";
      setTold(isStale ? `Somebody has changed this line.${now}` : messageOf(error));
      setBusy(false);
    }
  };
  return (
    <form
      class="line-editor"
      onSubmit={(event) => {
        event.preventDefault();
        void save();
      }}
    >
      <textarea
        ref={field}
        class="input"
        aria-label="The line's words"
        value={text}
        onInput={({ currentTarget }) => setText(currentTarget.value)}
        onKeyDown={(event) => {
          if (event.key === "Escape") onDone();
          if (event.key === "Enter" && !event.shiftKey) {
            event.preventDefault();
            void save();
          }
        }}
      />
      {told !== "" && (
        <p class="small notice" data-tone="danger" role="alert">
          {told}
        </p>
      )}
      <div class="row">
        <button type="submit" class="button primary" disabled={isBusy || text.trim() === ""}>
          Save
        </button>
        <button type="button" class="button" onClick={onDone}>
          Cancel
        </button>
      </div>
    </form>
  );
}

function callSegment(path: { session_id: string; segment_id: string }) {
  let response = new Response();
  return call(async (api) => {
    const answer = await api.GET("/sessions/{session_id}/segments/{segment_id}", {
      params: { path },
    });
    ({ response } = answer);
    return answer;
  }).then((segment) => ({ segment, response }));
}
