import { Square } from "lucide-preact";
import type { VNode } from "preact";
import { Link } from "wouter-preact";
import { isConnected, recorder, stopRecording } from "./recorder.ts";

/** In the bar at the top while this browser records, whatever view is open. */
export function RecordingChip(): VNode | null {
  const now = recorder.value;
  if (now.kind !== "recording") return null;
  return (
    <span class="row recording">
      <Link class="chip" data-tone="live" href={`/sessions/${now.sessionId}`}>
        <span class="pulse" aria-hidden="true" />
        <span class="recording-word">
          {isConnected.value ? "Recording" : "Recording, connection lost"}
        </span>
      </Link>
      <button
        type="button"
        class="button quiet icon"
        aria-label="Stop recording"
        onClick={stopRecording}
      >
        <Square size={15} aria-hidden="true" />
      </button>
    </span>
  );
}
