import type { AppError } from "../base/errors.ts";
import type { LanguageUnsupportedCommand } from "../session/command.ts";
import { isAllPlaced } from "../session/redact-covered.ts";
import type { SessionState } from "../session/state.ts";

/** How far a session was read, in samples of its timeline; it never goes back. */
export class ReadProgress {
  #processedTo = 0;
  #finalisedTo = 0;
  #notedTo = 0;

  /** A reading begins at this checkpoint. */
  startAt(position: number): void {
    this.#processedTo = position;
    this.#finalisedTo = position;
  }

  processed(to: number): void {
    this.#processedTo = Math.max(this.#processedTo, to);
  }

  finalised(to: number): void {
    this.#finalisedTo = Math.max(this.#finalisedTo, to);
  }

  get processedTo(): number {
    return this.#processedTo;
  }

  /** Everything before it is final. */
  get finalisedTo(): number {
    return this.#finalisedTo;
  }

  /** Calls `note` with how far it was read, when that has changed since the last time. */
  whenChanged(note: (samples: number) => void): void {
    if (this.#notedTo === this.#processedTo) return;
    this.#notedTo = this.#processedTo;
    note(this.#processedTo);
  }
}

/**
 * Ends a session in a language that no engine reads, once all of its audio has come. `error` is
 * that of its reading.
 */
export function endUnread(
  state: Readonly<SessionState> | undefined,
  error: AppError | undefined,
  notify: (command: LanguageUnsupportedCommand) => boolean,
): void {
  if (error?.code !== "language_unsupported" || state?.phase !== "processing") return;
  if (!isAllPlaced(state)) return;
  notify({ type: "LanguageUnsupported", attempt: state.attempt, message: error.message });
}
