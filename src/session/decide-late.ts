import type { LateTimeoutCommand } from "./command.ts";
import { collectFor, type Patience } from "./patience.ts";
import type { SessionState } from "./state.ts";
import { isLate, type LateGap } from "./timeline.ts";
import type { Turn } from "./turn.ts";

/** When late chunks stop waiting for others, unless they are to be read already. */
export function lateDeadline(
  state: Readonly<SessionState>,
  patience: Patience,
): number | undefined {
  const { first, newest } = span(collected(state));
  if (first === undefined || newest === undefined) return undefined;
  const next = Math.min(collectFor(state.timeline.nominal), patience.silence);
  return Math.min(first + patience.chunk, newest + next);
}

export function decideLateTimeout(turn: Turn, { signs }: LateTimeoutCommand): void {
  const { state, now, patience } = turn;
  const { first, newest } = span(collected(state));
  if (first === undefined || newest === undefined) return;
  const isGone = signs !== undefined && signs.heardAgo >= patience.silence;
  const isEnough =
    now >= first + patience.chunk || now >= newest + collectFor(state.timeline.nominal);
  if (isGone || isEnough) readLate(turn);
}

/** Where nothing more can come, nothing is waited for. */
export function settleLate(turn: Turn): void {
  const { state } = turn;
  const isMissing = awaitsAudio(state) || state.timeline.gaps.some((gap) => !isLate(gap));
  if (!isMissing) readLate(turn);
}

/** A chunk waits for its place, or what is missing at the end was not given up: of a session that has ended, too. */
export function awaitsAudio({ timeline, stop }: Readonly<SessionState>): boolean {
  return timeline.waiting.length > 0 || (stop !== undefined && timeline.next <= stop.lastSequence);
}

function readLate(turn: Turn): void {
  const sequences = collected(turn.state).map(({ sequence }) => sequence);
  if (sequences.length > 0) turn.emit({ type: "LateAudioDue", sequences });
}

function collected({ timeline }: Readonly<SessionState>): LateGap[] {
  return timeline.gaps.filter(isLate).filter(({ due }) => !due);
}

/** When the first and the newest of them came. */
function span(gaps: readonly LateGap[]): { first?: number; newest?: number } {
  const times = gaps.map(({ at = 0 }) => at);
  if (times.length === 0) return {};
  return { first: Math.min(...times), newest: Math.max(...times) };
}
