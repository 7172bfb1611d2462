import type { AppError } from "../base/errors.ts";
import type { LanguageUnsupportedCommand } from "../session/command.ts";
import { isAllPlaced } from "../session/redact-covered.ts";
import type { SessionState } from "../session/state.ts";

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
