import type { CommandOf, GapTimeoutCommand, LateTimeoutCommand } from "./command.ts";
import type { Signs } from "./device-signs.ts";
import { collectFor, type Patience } from "./limits.ts";
import { complete } from "./redact-covered.ts";
import { knownClusters } from "./speakers.ts";
import type { SessionState } from "./state.ts";
import { AUDIO_DAMAGED } from "./status.ts";
import {
  type Gap,
  isKnown,
  isLate,
  type LateGap,
  placeable,
  placementOf,
  toSamples,
} from "./timeline.ts";
import type { Turn } from "./turn.ts";

/** When late chunks stop waiting for further ones, Unix milliseconds; undefined when none waits. */
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

/** Reads late chunks at once when no more audio can come. */
function settleLate(turn: Turn): void {
  const { state } = turn;
  const isMissing = awaitsAudio(state) || state.timeline.gaps.some((gap) => !isLate(gap));
  if (!isMissing) readLate(turn);
}

/**
 * Whether a chunk waits for its place, or audio is missing at the end that was not given up. This
 * may be so in a session that has ended, too.
 */
export function awaitsAudio({ timeline, stop }: Readonly<SessionState>): boolean {
  const { unmeasured = [], gaps, next } = timeline;
  const isOpen = (sequence: number): boolean =>
    sequence >= next || gaps.some((gap) => gap.sequence === sequence && gap.tail !== true);
  if (unmeasured.some(({ sequence }) => isOpen(sequence))) return true;
  return timeline.waiting.length > 0 || (stop !== undefined && timeline.next <= stop.lastSequence);
}

function readLate(turn: Turn): void {
  const sequences = collected(turn.state).map(({ sequence }) => sequence);
  if (sequences.length > 0) turn.emit({ type: "LateAudioDue", sequences });
}

function collected({ timeline }: Readonly<SessionState>): LateGap[] {
  return timeline.gaps.filter(isLate).filter(({ due }) => !due);
}

/** When the first and the newest of the chunks came, Unix milliseconds. */
function span(gaps: readonly LateGap[]): { first?: number; newest?: number } {
  const times = gaps.map(({ at = 0 }) => at);
  if (times.length === 0) return {};
  return { first: Math.min(...times), newest: Math.max(...times) };
}

/**
 * How long a missing chunk is awaited while the session records, because viewers may be following,
 * milliseconds.
 */
export const GAP_WAIT = 10_000;

export function decideChunkStored(turn: Turn, command: CommandOf<"ChunkStored">): void {
  const { timeline } = turn.state;
  const { chunkId, sequence, frames, sampleRate, unreadable, unmeasured } = command;
  if (isKnown(timeline, sequence)) return;
  const known = {
    ...(unreadable !== undefined && { unreadable }),
    ...(unmeasured && { unmeasured }),
  };
  const gap = timeline.gaps.find((each) => each.sequence === sequence);
  turn.emit({ type: "ChunkReceived", chunkId, sequence, frames, sampleRate, ...known });
  if (!unmeasured) place(turn, command, gap);
}

/**
 * A chunk that failed has its place still, in which it is read as one that came late. One that is
 * still to be read is left to its reading.
 */
export function decideChunkMended(turn: Turn, command: CommandOf<"ChunkMended">): void {
  const { timeline } = turn.state;
  const { chunkId, sequence, start, length } = command;
  const isDue = [...timeline.open, ...timeline.gaps].some((each) => each.sequence === sequence);
  if (isDue || sequence >= timeline.next || length <= 0) return;
  const place = { sequence, start, length };
  turn.emit({ type: "GapFilled", chunkId, ...place, collected: true, mended: true });
  settleLate(turn);
}

/** A repetition, or the length of a chunk that is not awaited, changes nothing. */
export function decideChunkMeasured(turn: Turn, command: CommandOf<"ChunkMeasured">): void {
  const { sequence, frames, sampleRate, unreadable, damaged } = command;
  const { timeline } = turn.state;
  const chunk = timeline.unmeasured?.find((each) => each.sequence === sequence);
  if (chunk === undefined || sequence > timeline.next) return;
  const { chunkId } = chunk;
  const known = { ...(unreadable !== undefined && { unreadable }), ...(damaged && { damaged }) };
  const gap = timeline.gaps.find((each) => each.sequence === sequence);
  turn.emit({ type: "ChunkMeasured", chunkId, sequence, frames, sampleRate, ...known });
  place(turn, { chunkId, sequence, frames, sampleRate, ...known }, gap);
}

type Measured = Stored & Pick<CommandOf<"ChunkStored">, "frames" | "sampleRate">;

/** Gives a chunk its place: behind all others, or in the gap that stands for it. */
function place(turn: Turn, chunk: Measured, gap: Gap | undefined): void {
  const { chunkId, sequence, frames, sampleRate } = chunk;
  if (gap === undefined || gap.tail) {
    placeAll(turn);
  } else {
    // The timeline after a gap is fixed: the late chunk gets the span that was kept for it.
    const length = Math.min(gap.length, toSamples(frames, sampleRate));
    const { start } = gap;
    turn.emit({ type: "GapFilled", chunkId, sequence, start, length, collected: true });
    failUnreadable(turn, chunk);
  }
  settleLate(turn);
}

function placeAll(turn: Turn): void {
  const { timeline } = turn.state;
  for (let chunk = placeable(timeline); chunk !== undefined; chunk = placeable(timeline)) {
    const { chunkId, sequence } = chunk;
    const placement = placementOf(timeline, chunk);
    turn.emit({ type: "ChunkPlaced", chunkId, sequence, ...placement });
    failUnreadable(turn, chunk);
    // A part of a stream in which no packet ends: of late ones there is nothing to read again.
    const isLate = sequence >= (timeline.lateFrom ?? Number.POSITIVE_INFINITY);
    if (isLate && placement.length === 0 && chunk.unreadable === undefined) {
      turn.emit({ type: "ChunkTranscribed", chunkId, sequence });
    }
  }
}

type Stored = Pick<CommandOf<"ChunkStored">, "chunkId" | "sequence" | "unreadable"> &
  Pick<CommandOf<"ChunkMeasured">, "damaged">;

/** Fails an unreadable chunk. It keeps its place, and the readable part of it is still read. */
function failUnreadable(turn: Turn, chunk: Stored): void {
  const { chunkId, sequence, unreadable: message, damaged } = chunk;
  if (message === undefined) return;
  const code = damaged ? AUDIO_DAMAGED : "not_audio";
  turn.emit({ type: "ChunkFailed", chunkId, sequence, code, message });
}

export function decideStop(turn: Turn, command: CommandOf<"Stop">): void {
  if (turn.state.phase !== "recording") return;
  const { timeline } = turn.state;
  const stored = [...timeline.waiting, ...(timeline.unmeasured ?? [])];
  const highest = Math.max(timeline.next - 1, ...stored.map((c) => c.sequence));
  const lastSequence = Math.max(highest, command.lastSequence);
  const { reason } = command;
  turn.emit({ type: "SessionStopped", lastSequence, ...(reason === undefined ? {} : { reason }) });
  if (timeline.position === 0 && turn.state.stop?.lastSequence === -1) complete(turn);
}

/** When the wait for the next sequence ends, Unix milliseconds; undefined when nothing is missing. */
export function gapDeadline({ timeline, stop }: Readonly<SessionState>): number | undefined {
  const { waiting, unmeasured = [], next } = timeline;
  const stored = [...waiting, ...unmeasured.filter(({ sequence }) => sequence >= next)];
  const since: number[] = stored.map((chunk) => chunk.at);
  if (stop !== undefined && timeline.next <= stop.lastSequence) since.push(stop.at);
  return since.length === 0 ? undefined : Math.min(...since) + GAP_WAIT;
}

export function decideGapTimeout(turn: Turn, { sequence, signs }: GapTimeoutCommand): void {
  const { timeline, stop } = turn.state;
  const deadline = gapDeadline(turn.state);
  decideLateTimeout(turn, { type: "LateTimeout", ...(signs && { signs }) });
  if (sequence !== timeline.next || deadline === undefined || turn.now < deadline) return;
  // Stored streamed audio is not missing: it becomes a chunk soon.
  const isThere = signs?.openChunks.includes(sequence) === true;
  if (isThere && turn.now < deadline + turn.patience.chunk) return;
  if (stop !== undefined && signs !== undefined && mayStillSend(turn, stop.at, signs)) return;
  const [first] = timeline.waiting;
  const part = timeline.unmeasured?.find((chunk) => chunk.sequence >= timeline.next);
  if (part !== undefined && (first === undefined || part.sequence < first.sequence)) {
    return goOnBefore(turn, part.sequence, stop !== undefined);
  }
  if (first === undefined) return giveUpTail(turn, stop?.lastSequence ?? -1);
  const length = timeline.nominal || toSamples(first.frames, first.sampleRate);
  while (timeline.next < first.sequence) declareGap(turn, length);
  placeAll(turn);
  settleLate(turn);
}

/**
 * The wait for what comes before a part of unknown length is over. As long as nothing has a place,
 * it is the stream's head that is missing: the part waits for it, and is given up with it at last.
 */
function goOnBefore(turn: Turn, sequence: number, isStopped: boolean): void {
  const { timeline, stop } = turn.state;
  if (timeline.nominal === 0 && !isStopped) return;
  if (timeline.nominal === 0) {
    const headless = timeline.unmeasured ?? [];
    giveUpTail(turn, stop?.lastSequence ?? -1);
    for (const part of headless) {
      turn.emit({ type: "ChunkFailed", ...named(part), code: "not_audio", message: HEADLESS });
    }
    return;
  }
  while (timeline.next < sequence) declareGap(turn, timeline.nominal);
  // It was to be measured already, when nothing before it was missing.
  if (turn.state.timeline.unmeasured?.some((each) => each.sequence === timeline.next)) return;
  settleLate(turn);
}

const HEADLESS =
  "The beginning of the recording, without which its parts cannot be read, is missing.";

function named({ chunkId, sequence }: { chunkId: string; sequence: number }) {
  return { chunkId, sequence };
}

/**
 * After the stop no viewer waits for live text, so the audio of a device that is still alive is
 * awaited for longer.
 */
function mayStillSend({ now, patience }: Turn, stoppedAt: number, signs: Signs): boolean {
  const { heardAgo, chunkAgo = Number.POSITIVE_INFINITY } = signs;
  // Audio that is sent after the stop had no time to come before it.
  const waited = Math.min(chunkAgo, now - stoppedAt);
  return heardAgo < patience.silence && waited < patience.chunk;
}

/**
 * Gives up the missing chunks at the end. No chunk follows them, so their length stays 0 until
 * their audio comes.
 */
function giveUpTail(turn: Turn, last: number): void {
  const { timeline } = turn.state;
  while (timeline.next <= last) declareGap(turn, 0, { tail: true });
  settleLate(turn);
}

function declareGap(turn: Turn, length: number, tail: { tail?: true } = {}): void {
  const { timeline, checkpoint, speakers } = turn.state;
  turn.emit({
    type: "GapDeclared",
    sequence: timeline.next,
    start: timeline.position,
    length,
    pin: checkpoint,
    knownClusters: knownClusters(speakers),
    ...tail,
  });
}
