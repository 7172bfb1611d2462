import { apply } from "./apply.ts";
import type { SessionCommand } from "./command.ts";
import { decide } from "./decide.ts";
import { awaitsAudio, gapDeadline, lateDeadline } from "./decide-audio.ts";
import type { SessionEvent } from "./event.ts";
import { PATIENCE, type Patience } from "./limits.ts";
import { isRepeatable } from "./outside-command.ts";
import { packState, SNAPSHOT_VERSION, unpackState } from "./snapshot.ts";
import { initialState, type SessionState } from "./state.ts";
import { isOver } from "./status.ts";
import { isLate } from "./timeline.ts";
import { Turn } from "./turn.ts";
import type { SessionWrite } from "./write.ts";

/**
 * A deadline's command that changed nothing is sent again after this share of a device's silence.
 */
const ASKED_AGAIN = 1 / 4;

interface Deadline {
  at: number;
  command: SessionCommand;
  again: number;
}

/** The session domain in the shape that the actor runtime hosts. */
export function createSessionBehaviour(patience: Patience) {
  return {
    initial: initialState,
    apply: (state: SessionState, event: SessionEvent, at: number): void => apply(state, event, at),
    decide(
      state: SessionState,
      command: SessionCommand,
      now: number,
    ): { events: SessionEvent[]; writes: SessionWrite[]; reply: unknown } {
      const turn = new Turn(state, now, patience);
      const reply = decide(turn, command);
      return { events: turn.events, writes: turn.writes, reply };
    },
    isRepeatable: (command: SessionCommand): boolean => isRepeatable(command),
    hasWork,
    deadline: (state: SessionState): Deadline | undefined => deadline(state, patience),
    snapshotVersion: SNAPSHOT_VERSION,
    pack: packState,
    unpack: unpackState,
  };
}

export const sessionBehaviour = createSessionBehaviour(PATIENCE);

/**
 * Sessions that have ended have deadlines too: audio of their end may still come, and late audio is
 * still read.
 */
function deadline(state: SessionState, patience: Patience): Deadline | undefined {
  if (state.phase === "new" || state.phase === "deleted") return undefined;
  const gap = gapDeadline(state) ?? Number.POSITIVE_INFINITY;
  const late = lateDeadline(state, patience) ?? Number.POSITIVE_INFINITY;
  const at = Math.min(gap, late);
  if (at === Number.POSITIVE_INFINITY) return undefined;
  const again = patience.silence * ASKED_AGAIN;
  if (late < gap) return { at, again, command: { type: "LateTimeout" } };
  return { at, again, command: { type: "GapTimeout", sequence: state.timeline.next } };
}

/**
 * Whether the session has work that goes on without a request: it records or is processed, audio is
 * awaited or came late and is still to be read, or a redo is under way. A host that takes the
 * session over activates it then.
 */
function hasWork(state: Readonly<SessionState>): boolean {
  const { phase, redo, timeline } = state;
  if (phase === "deleted") return false;
  return !isOver(phase) || redo !== undefined || awaitsAudio(state) || timeline.gaps.some(isLate);
}
