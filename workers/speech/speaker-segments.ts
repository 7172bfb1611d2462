import type { Segment, Word } from "../../src/wire/gen/voice/v1/worker.ts";
import type { SpeakerTurn } from "../speakers/speaker-tracker.ts";

/**
 * Splits the words of an utterance at its speaker turns: a word belongs to the turn that contains
 * its middle, a turn without words gives no segment, and neighbours of one cluster are joined. The
 * first segment starts where the utterance does; a segment ends with its last word.
 */
export function splitAtTurns(
  start: number,
  words: readonly Word[],
  turns: readonly SpeakerTurn[],
): Segment[] {
  const segments: Segment[] = [];
  for (const word of words) {
    const turn = turnAt(turns, (word.start + word.end) / 2);
    const cluster = turn?.cluster ?? -1;
    const last = segments.at(-1);
    if (last !== undefined && last.cluster === cluster) {
      last.words.push(word);
      last.end = word.end;
    } else {
      const from = last === undefined ? start : Math.max(last.end, turn?.start ?? word.start);
      segments.push({ start: from, end: word.end, words: [word], confidence: 0, cluster });
    }
  }
  for (const segment of segments) segment.confidence = meanConfidence(segment.words);
  return segments;
}

function turnAt(turns: readonly SpeakerTurn[], position: number): SpeakerTurn | undefined {
  return turns.find((turn) => position < turn.end) ?? turns.at(-1);
}

function meanConfidence(words: readonly Word[]): number {
  const sum = words.reduce((total, word) => total + word.confidence, 0);
  return words.length === 0 ? 0 : sum / words.length;
}
