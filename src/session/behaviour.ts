import { apply } from "./apply.ts";
import type { SessionCommand } from "./command.ts";
import { decide } from "./decide.ts";
import { gapDeadline } from "./decide-audio.ts";
import type { SessionEvent } from "./event.ts";
import { isRepeatable } from "./outside-command.ts";
import { SNAPSHOT_VERSION, upgradeSnapshot } from "./snapshot.ts";
import { initialState, type SessionState } from "./state.ts";
import { Turn } from "./turn.ts";
import type { SessionWrite } from "./write.ts";

/** The session domain in the shape that the actor runtime hosts. */
export const sessionBehaviour = {
  initial: initialState,
  apply: (state: SessionState, event: SessionEvent, at: number): void => apply(state, event, at),
  decide(
    state: SessionState,
    command: SessionCommand,
    now: number,
  ): { events: SessionEvent[]; writes: SessionWrite[]; reply: unknown } {
    const turn = new Turn(state, now);
    const reply = decide(turn, command);
    return { events: turn.events, writes: turn.writes, reply };
  },
  isRepeatable,
  deadline(state: SessionState): { at: number; command: SessionCommand } | undefined {
    if (state.phase !== "recording" && state.phase !== "processing") return undefined;
    const at = gapDeadline({ state });
    if (at === undefined) return undefined;
    return { at, command: { type: "GapTimeout", sequence: state.timeline.next } };
  },
  snapshotVersion: SNAPSHOT_VERSION,
  upgrade: upgradeSnapshot,
};
