import type { VNode } from "preact";
import { call } from "../../api/client.ts";
import type { Session } from "../../api/records.ts";
import { useRefreshing } from "../../parts/refreshing.ts";
import { useResource } from "../../parts/resource.ts";
import { leftOf, lengthOf } from "../../parts/times.ts";

const REFRESH_MS = 5_000;

/** How much of a session was recorded so far, and how far that was read; undefined until it is known. */
export function useTranscriptionProgress(sessionId: string, isAsked: boolean): Session["reading"] {
  const { state, reload } = useResource(async () => {
    if (!isAsked) return undefined;
    const params = { path: { session_id: sessionId } };
    const { reading } = await call((api) => api.GET("/sessions/{session_id}", { params }));
    return reading;
  }, [sessionId, isAsked]);
  useRefreshing(reload, isAsked ? REFRESH_MS : undefined);
  return state.kind === "ready" ? state.value : undefined;
}

interface ProgressProps {
  /** Of the session. */
  title: string;
  reading: NonNullable<Session["reading"]>;
}

/** A bar for what is being read to its end, with how long that takes. */
export function TranscriptionProgress({ title, reading }: ProgressProps): VNode | null {
  const { received_seconds: received, read_seconds: read, expected_end_at: end } = reading;
  if (received <= 0) return null;
  return (
    <span class="session-reading">
      <progress
        class="bar"
        aria-label={`Words of ${title}`}
        max={100}
        value={Math.min(100, Math.floor((100 * read) / received))}
      />
      <span>
        {end === undefined
          ? `${lengthOf(read * 1_000)} of ${lengthOf(received * 1_000)} read`
          : leftOf(Date.parse(end) - Date.now())}
      </span>
    </span>
  );
}
