import { SESSION_RATE } from "../../src/base/audio/sample-rate.ts";
import type { Overlap, Segment, Word } from "../../src/wire/gen/voice/v1/worker.ts";
import type { SpeakerTurn } from "../speakers/speaker-tracker.ts";

/** A pause of a speaker that is taken for a part of the speech: 0.5 s, in samples. */
const SHORT_PAUSE = SESSION_RATE / 2;

/**
 * Splits the words of an utterance at its speaker turns: a word belongs to the turn that contains
 * its middle, a turn without words gives no segment, and what it parts is joined where it is of one
 * cluster. Neighbouring turns of one cluster stay apart: later proposals may give them two. The
 * first segment starts where the utterance does; a segment ends with its last turn's speech, of
 * which words may be missing, or with its last word, or where the same speaker goes on. Its
 * speaker's confidence is the mean over its words whose turns know theirs.
 */
export function splitAtTurns(
  start: number,
  words: readonly Word[],
  turns: readonly SpeakerTurn[],
): Segment[] {
  const segments: Segment[] = [];
  const certainties = new Map<Segment, number[]>();
  const spoken = new Map<Segment, number>();
  let newest = -1;
  for (const word of words) {
    const at = turnAt(turns, (word.start + word.end) / 2);
    const turn = turns[at];
    const cluster = turn?.cluster ?? -1;
    const last = segments.at(-1);
    let segment = last;
    const isNext = at === newest + 1;
    newest = at;
    if (segment !== undefined && segment.cluster === cluster && !isNext) {
      segment.words.push(word);
      segment.end = word.end;
    } else {
      const from = last === undefined ? start : Math.max(last.end, turn?.start ?? word.start);
      segment = { start: from, end: word.end, words: [word], confidence: 0, cluster, overlaps: [] };
      segments.push(segment);
    }
    spoken.set(segment, turn?.spokenTo ?? 0);
    if (cluster < 0 || turn === undefined || turn.confidence === 0) continue;
    certainties.set(segment, [...(certainties.get(segment) ?? []), turn.confidence]);
  }
  for (const [n, segment] of segments.entries()) {
    segment.end = Math.max(segment.end, spoken.get(segment) ?? 0);
    const next = segments[n + 1];
    if (next?.cluster !== segment.cluster || segment.cluster < 0) continue;
    if (next.start - segment.end <= SHORT_PAUSE) segment.end = next.start;
  }
  const overlaps = turns.flatMap((turn) => turn.overlaps ?? []);
  for (const segment of segments) {
    segment.overlaps = within(segment, overlaps);
    segment.confidence = mean(confidencesOf(segment.words));
  }
  for (const [segment, known] of certainties) segment.speakerConfidence = mean(known);
  return segments;
}

function within(segment: Segment, overlaps: readonly Overlap[]): Overlap[] {
  return overlaps.flatMap(({ start, end, cluster }) => {
    const span = { start: Math.max(start, segment.start), end: Math.min(end, segment.end) };
    return cluster === segment.cluster || span.end <= span.start ? [] : [{ ...span, cluster }];
  });
}

function turnAt(turns: readonly SpeakerTurn[], position: number): number {
  const at = turns.findIndex((turn) => position < turn.end);
  return at < 0 ? turns.length - 1 : at;
}

function confidencesOf(words: readonly Word[]): number[] {
  return words.map(({ confidence }) => confidence);
}

function mean(values: readonly number[]): number {
  return values.length === 0 ? 0 : values.reduce((sum, value) => sum + value, 0) / values.length;
}
