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

/** Of a device's silence, how long it is until it is asked after again. */
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

/** A session that has ended may still get audio: that of its end, and what is read again. */
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
 * Whether something is left to do that goes on without anybody asking for it: the session records
 * or is processed, audio is waited for or came late and is still to be read, a redo is under way.
 * Whoever takes the session over goes by this.
 */
function hasWork(state: Readonly<SessionState>): boolean {
  const { phase, redo, timeline } = state;
  if (phase === "deleted") return false;
  return !isOver(phase) || redo !== undefined || awaitsAudio(state) || timeline.gaps.some(isLate);
}
