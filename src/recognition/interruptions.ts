import type { AppError, ErrorCode } from "../base/errors.ts";
import type { WarningFrame } from "../wire/live-frames.ts";
import type { NoticeCode } from "../wire/notice-codes.ts";

const MESSAGES: Partial<Record<ErrorCode, string>> = {
  overloaded: "All workers are busy; the audio is safe and its text comes later.",
};
const MESSAGE = "Transcription is interrupted and will catch up; nothing is lost.";

/**
 * Makes the warnings for viewers when a session's reading is interrupted: one when the interruption
 * begins or its reason changes, and one when it is over.
 */
export class Interruptions {
  readonly #sessionId: string;
  #told: ErrorCode | undefined;

  constructor(sessionId: string) {
    this.#sessionId = sessionId;
  }

  /** The warning of an interruption; undefined when it was given already. */
  began(error: AppError | undefined): WarningFrame | undefined {
    const code = error?.code ?? "unavailable";
    if (this.#told === code) return undefined;
    this.#told = code;
    // Which engine is missing, and for which language, is told in the error's own sentence.
    const isOwn = code === "engine_unavailable" || code === "language_unsupported";
    const own = isOwn ? error?.message : undefined;
    return this.#warning(code, own ?? MESSAGES[code] ?? MESSAGE, true);
  }

  /** The warning that the reading goes on; undefined when it was not interrupted. */
  ended(): WarningFrame | undefined {
    if (this.#told === undefined) return undefined;
    this.#told = undefined;
    return this.#warning("resumed", "Transcription goes on.", false);
  }

  #warning(code: NoticeCode, message: string, retryable: boolean): WarningFrame {
    return { type: "Warning", session_id: this.#sessionId, code, message, retryable };
  }
}
