import type { VNode } from "preact";
import { call } from "../../api/client.ts";
import { useResource } from "../../parts/resource.ts";
import { Empty } from "../../parts/states.tsx";
import type { SessionModel } from "./model/session-model.ts";

const SHOWN = 5;
/** Of longer sessions the first chunks tell enough. */
const ASKED = 100;

const REASONS = {
  audio_unreadable: "Sound came, and none of it could be read.",
  language_unsupported:
    "No speech engine here reads its language. The sound is kept: read it once more when there is one, or in another language.",
} as const;

/** What stands in the place of the words of a session that failed: why, and which pieces. */
export function FailedSession({ model }: { model: SessionModel }): VNode {
  const reason = model.session.value?.reason;
  const { state } = useResource(async () => {
    const params = { path: { session_id: model.id }, query: { limit: ASKED } };
    const page = await call((api) => api.GET("/sessions/{session_id}/chunks", { params }));
    return page.chunks.filter(({ message }) => message !== undefined);
  }, [model]);
  const failed = state.kind === "ready" ? state.value : [];
  return (
    <Empty title="Nothing could be read">
      {reason && <p>{REASONS[reason]}</p>}
      {failed.length > 0 && (
        <ul class="small">
          {failed.slice(0, SHOWN).map(({ chunk_id, chunk_sequence, message }) => (
            <li key={chunk_id}>{`Chunk ${chunk_sequence}: ${message}`}</li>
          ))}
          {failed.length > SHOWN && <li>and others</li>}
        </ul>
      )}
    </Empty>
  );
}
