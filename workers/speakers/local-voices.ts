import { VOICE_CLASSES, VOICE_FRAME, VOICE_FRAME_FIELD } from "./voice-analysis.ts";

/** A stretch of sound, positions in samples, and what the segmentation network said of its frames. */
interface SegmentedWindow {
  readonly start: number;
  readonly end: number;
  /** See `VoiceAnalysis.segment`. */
  readonly scores: Float32Array;
}

/** Who speaks in a frame, by numbers that mean something within one utterance only. */
interface Frame {
  /** The frame's place: it stands for [at, at + VOICE_FRAME). */
  at: number;
  voices: readonly number[];
}

/** A voice of an utterance and when it is the one that speaks. */
interface LocalTurn {
  voice: number;
  start: number;
  end: number;
  /** Where its last speech ends. */
  spokenTo: number;
}

/** Speech of a voice while another one's turn goes on. */
export interface LocalOverlap {
  voice: number;
  start: number;
  end: number;
}

export interface LocalVoices {
  /** In order; they cover the utterance without gaps. Empty where nobody was found to speak. */
  turns: LocalTurn[];
  /** In order of their starts. */
  overlaps: LocalOverlap[];
  /** Shares of the frames in [start, end): speech of `voice` alone, of anybody, of two at once. */
  sharesIn(start: number, end: number, voice: number): FrameShares;
}

interface FrameShares {
  own: number;
  speech: number;
  overlap: number;
}

/** A shorter turn is taken for the network's hesitation, samples (0.2 s). */
const LEAST_TURN = 3_200;
/** A shorter overlap is taken for the network's hesitation, and a shorter pause in one too, samples (0.25 s). */
const LEAST_OVERLAP = 4_000;
/** Voices beyond that a window can tell apart. */
const VOICES = 3;

/**
 * Puts together what the network said of the windows of an utterance: the same voice has other
 * numbers in each, so those are matched where windows overlap.
 *
 * @param windows in order, each beginning before the one before ends
 */
export function localVoices(
  windows: readonly SegmentedWindow[],
  start: number,
  end: number,
): LocalVoices {
  const frames = framesOf(windows);
  const turns = turnsOf(frames, start, end);
  return {
    turns,
    overlaps: overlapsOf(frames, turns),
    sharesIn: (from, to, voice) => sharesOf(frames, { from, to, voice }),
  };
}

function framesOf(windows: readonly SegmentedWindow[]): Frame[] {
  let frames: Frame[] = [];
  let known = 0;
  for (const window of windows) {
    const fresh = decode(window);
    const begins = fresh[0]?.at ?? 0;
    const shared = frames.filter(({ at }) => at >= begins);
    const names = matched(shared, fresh, known);
    known = Math.max(known, ...names.map((name) => name + 1));
    const renamed = fresh.map(({ at, voices }) => ({
      at,
      voices: voices.map((voice) => names[voice] ?? voice),
    }));
    // In the middle of what two windows share each is as far from its edge as the other.
    const middle = shared[shared.length >> 1]?.at ?? begins;
    frames = [
      ...frames.filter(({ at }) => at < middle),
      ...renamed.filter(({ at }) => at >= middle),
    ];
  }
  return frames;
}

/** The likeliest class of each frame; those behind the end are of silence that was put there. */
function decode({ start, end, scores }: SegmentedWindow): Frame[] {
  const classes = VOICE_CLASSES.length;
  // A frame is heard around the middle of its field.
  const lead = (VOICE_FRAME_FIELD - VOICE_FRAME) >> 1;
  return Array.from({ length: scores.length / classes }, (_, n) => {
    let best = 0;
    for (let at = 1; at < classes; at++) {
      if ((scores[n * classes + at] ?? 0) > (scores[n * classes + best] ?? 0)) best = at;
    }
    return { at: start + lead + n * VOICE_FRAME, voices: VOICE_CLASSES[best] ?? [] };
  }).filter(({ at }) => at < end);
}

/** A name for each of a window's voices: that of the voice that speaks at the same times, or a new one. */
function matched(shared: readonly Frame[], fresh: readonly Frame[], known: number): number[] {
  const together = new Map<string, { one: number; other: number; frames: number }>();
  let next = 0;
  for (const { at, voices } of shared) {
    while (next < fresh.length - 1 && (fresh[next]?.at ?? 0) < at - VOICE_FRAME / 2) next += 1;
    for (const one of voices) {
      for (const other of fresh[next]?.voices ?? []) {
        const pair = together.get(`${one} ${other}`) ?? { one, other, frames: 0 };
        pair.frames += 1;
        together.set(`${one} ${other}`, pair);
      }
    }
  }
  const names = new Map<number, number>();
  for (const { one, other } of [...together.values()].sort((a, b) => b.frames - a.frames)) {
    if (!names.has(other) && ![...names.values()].includes(one)) names.set(other, one);
  }
  let free = known;
  return Array.from({ length: VOICES }, (_, voice) => names.get(voice) ?? free++);
}

/** The voice that leads in each frame: one that goes on leads before one that joins. */
function turnsOf(frames: readonly Frame[], start: number, end: number): LocalTurn[] {
  const turns: LocalTurn[] = [];
  for (const { at, voices } of frames) {
    const last = turns.at(-1);
    const goesOn = last !== undefined && voices.includes(last.voice);
    const voice = goesOn ? last.voice : voices[0];
    if (voice === undefined) continue;
    const spokenTo = Math.min(end, at + VOICE_FRAME);
    if (last?.voice === voice) last.spokenTo = spokenTo;
    else turns.push({ voice, start: Math.max(start, at), end, spokenTo });
  }
  return covering(withoutShort(turns), start, end);
}

/** Gives what is too short to the turn before it, or behind it. */
function withoutShort(turns: readonly LocalTurn[]): LocalTurn[] {
  const kept: LocalTurn[] = [];
  for (const turn of turns) {
    const last = kept.at(-1);
    const isShort = turn.spokenTo - turn.start < LEAST_TURN;
    if (last !== undefined && (isShort || last.voice === turn.voice)) last.spokenTo = turn.spokenTo;
    else if (last !== undefined && last.spokenTo - last.start < LEAST_TURN) {
      kept[kept.length - 1] = { ...turn, start: last.start };
    } else kept.push({ ...turn });
  }
  return kept;
}

function covering(turns: readonly LocalTurn[], start: number, end: number): LocalTurn[] {
  return turns.map((turn, n) => ({
    ...turn,
    start: n === 0 ? start : turn.start,
    end: turns[n + 1]?.start ?? end,
  }));
}

/** Where somebody speaks besides the voice whose turn it is. */
function overlapsOf(frames: readonly Frame[], turns: readonly LocalTurn[]): LocalOverlap[] {
  const overlaps: LocalOverlap[] = [];
  let at = 0;
  for (const frame of frames) {
    while (at < turns.length - 1 && frame.at >= (turns[at]?.end ?? 0)) at += 1;
    const turn = turns[at];
    if (turn === undefined || frame.voices.length < 2) continue;
    for (const voice of frame.voices) {
      if (voice === turn.voice) continue;
      const end = frame.at + VOICE_FRAME;
      const last = overlaps.findLast((each) => each.voice === voice);
      const goesOn = last !== undefined && frame.at - last.end < LEAST_OVERLAP;
      if (goesOn && last.end > turn.start) last.end = end;
      else overlaps.push({ voice, start: frame.at, end });
    }
  }
  return overlaps.filter(({ start, end }) => end - start >= LEAST_OVERLAP);
}

function sharesOf(
  frames: readonly Frame[],
  { from, to, voice }: { from: number; to: number; voice: number },
): FrameShares {
  const within = frames.filter(({ at }) => at + VOICE_FRAME > from && at < to);
  const share = (is: (voices: readonly number[]) => boolean) =>
    within.filter(({ voices }) => is(voices)).length / Math.max(1, within.length);
  return {
    own: share((voices) => voices.length === 1 && voices[0] === voice),
    speech: share((voices) => voices.length > 0),
    overlap: share((voices) => voices.length > 1),
  };
}
