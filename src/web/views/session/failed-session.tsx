import type { VNode } from "preact";
import { Link } from "wouter-preact";
import { account } from "../../api/account.ts";
import { call } from "../../api/client.ts";
import { useDeed } from "../../parts/deed.ts";
import { useResource } from "../../parts/resource.ts";
import { Empty } from "../../parts/states.tsx";
import { showToast } from "../../parts/toasts.tsx";
import type { SessionModel } from "./model/session-model.ts";

const SHOWN = 5;
/** Of longer sessions the first chunks tell enough. */
const ASKED = 100;

const REASONS = {
  audio_unreadable: "Sound came, and none of it could be read.",
  language_unsupported:
    "No speech engine here reads its language. The sound is kept: read it once more when there is one, or in another language.",
} as const;

/** What stands in the place of the words of a session that failed: why, and which parts. */
export function FailedSession({ model }: { model: SessionModel }): VNode {
  const reason = model.session.value?.reason;
  const { state } = useResource(async () => {
    const params = { path: { session_id: model.id }, query: { limit: ASKED } };
    const page = await call((api) => api.GET("/sessions/{session_id}/chunks", { params }));
    return page.chunks.filter(({ message }) => message !== undefined);
  }, [model]);
  const failed = state.kind === "ready" ? state.value : [];
  return (
    <Empty title="Nothing could be read" next={<ReadAgain model={model} />}>
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

/** The ways on from a session without words: its owner has it read once more, or records another one. */
export function ReadAgain({ model }: { model: SessionModel }): VNode {
  const { isBusy, error, run } = useDeed();
  if (account.value?.kind === "guest")
    return <span class="soft">Its owner can tell you more.</span>;
  const params = { path: { session_id: model.id } };
  const read = () =>
    run(async () => {
      await call((api) => api.POST("/sessions/{session_id}/transcriptions", { params, body: {} }));
      showToast("The sound is read once more; the words follow.");
      await model.refresh();
    });
  return (
    <>
      {model.isOwner && (
        <button type="button" class="button" aria-disabled={isBusy} onClick={() => void read()}>
          Read the sound once more
        </button>
      )}
      <Link class="button" href="/record">
        Record another one
      </Link>
      {error !== "" && <span role="alert">{error}</span>}
    </>
  );
}
