import type { AppError, ErrorCode } from "../base/errors.ts";
import type { Log } from "../base/log.ts";
import type { WarningFrame } from "../wire/live-frames.ts";
import type { NoticeCode } from "../wire/notice-codes.ts";

const MESSAGES: Partial<Record<ErrorCode, string>> = {
  overloaded: "All workers are busy; the audio is safe and its text comes later.",
};
const MESSAGE = "Transcription is interrupted and will catch up; nothing is lost.";

/** How often readings were interrupted, by the code of the reason. */
export type InterruptionCounts = Map<ErrorCode, number>;

/**
 * Makes the warnings for viewers when a session's reading is interrupted: one when the interruption
 * begins or its reason changes, and one when it is over. Also logs and counts interruptions.
 */
export class Interruptions {
  readonly #sessionId: string;
  readonly #log: Log;
  readonly #counts: InterruptionCounts;
  #reported: ErrorCode | undefined;
  #logged: { reason: string; position: number; times: number } | undefined;

  constructor(sessionId: string, log: Log, counts: InterruptionCounts = new Map()) {
    this.#sessionId = sessionId;
    this.#log = log;
    this.#counts = counts;
  }

  /**
   * Logs that the reading broke at `position`. One that breaks at the same place for the same reason
   * again is logged the 10th, the 100th, the 1,000th time, so that a session which cannot be read
   * does not fill the log.
   */
  log(error: AppError | undefined, position: number, waitMs: number): void {
    const code = error?.code ?? "unavailable";
    this.#counts.set(code, (this.#counts.get(code) ?? 0) + 1);
    const reason = error?.message ?? "The reading ended before all audio was read.";
    const before = this.#logged;
    const isSame = before?.reason === reason && position <= before.position;
    const times = isSame ? before.times + 1 : 1;
    this.#logged = { reason, position, times };
    if (!/^10*$/.test(String(times))) return;
    const fields = { code, reason, retry_in_ms: waitMs, ...(times > 1 && { times }) };
    this.#log.warn(fields, "reading interrupted");
  }

  /** The warning of an interruption; undefined when it was given already. */
  began(error: AppError | undefined): WarningFrame | undefined {
    const code = error?.code ?? "unavailable";
    if (this.#reported === code) return undefined;
    this.#reported = code;
    // Which engine is missing, and for which language, is told in the error's own sentence.
    const isOwn = code === "engine_unavailable" || code === "language_unsupported";
    const own = isOwn ? error?.message : undefined;
    return this.#warning(code, own ?? MESSAGES[code] ?? MESSAGE, true);
  }

  /** The warning that the reading goes on; undefined when it was not interrupted. */
  ended(): WarningFrame | undefined {
    if (this.#reported === undefined) return undefined;
    this.#reported = undefined;
    return this.#warning("resumed", "Transcription goes on.", false);
  }

  #warning(code: NoticeCode, message: string, retryable: boolean): WarningFrame {
    return { type: "Warning", session_id: this.#sessionId, code, message, retryable };
  }
}
