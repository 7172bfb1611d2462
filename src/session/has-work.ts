import { awaitsAudio } from "./decide-late.ts";
import type { SessionState } from "./state.ts";
import { isOver } from "./status.ts";
import { isLate } from "./timeline.ts";

/**
 * Whether something is left to do that goes on without anybody asking for it: the session records
 * or is processed, audio is waited for or came late and is still to be read, a redo is under way.
 * Whoever takes the session over goes by this.
 */
export function hasWork(state: Readonly<SessionState>): boolean {
  const { phase, redo, timeline } = state;
  if (phase === "deleted") return false;
  return !isOver(phase) || redo !== undefined || awaitsAudio(state) || timeline.gaps.some(isLate);
}
