import type { WarningFrame } from "../wire/live-frames.ts";

/** Told to those who begin to follow a session that has ended, after what there is. */
export function sessionOver(sessionId: string): WarningFrame {
  return {
    type: "Error",
    session_id: sessionId,
    code: "session_ended",
    message: "The session has ended; only corrections may still come.",
    retryable: false,
  };
}
