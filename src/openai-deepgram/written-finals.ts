import { SESSION_RATE } from "../base/audio/sample-rate.ts";
import type { SegmentRecord } from "../conversations/transcript/writing/segment-record.ts";
import {
  type Writing,
  writeSegments,
} from "../conversations/transcript/writing/written-segments.ts";
import type { ResultsBody } from "../wire/live-frames.ts";

const samples = (seconds: number): number => Math.round(seconds * SESSION_RATE);

/** The words of a frame as a segment, written for people as far as this is known of it alone. */
export function writeFinal(
  frame: ResultsBody,
  how: Pick<Writing, "style" | "numbers">,
  { language, names = [] }: { language: string; names?: readonly string[] },
): SegmentRecord {
  const { segment_id: id, start, duration, speaker: label, transcript: text, confidence } = frame;
  const words = frame.words.map((word) => ({
    text: word.word,
    start: samples(word.start),
    end: samples(word.end),
    confidence: word.confidence,
  }));
  const segment = {
    ...{ id, label, text, words, confidence, revision: 1 },
    ...{ start: samples(start), end: samples(start + duration) },
    speakerConfidence: frame.speaker_confidence ?? undefined,
  };
  return writeSegments([segment], { ...how, language, names })[0] ?? segment;
}
