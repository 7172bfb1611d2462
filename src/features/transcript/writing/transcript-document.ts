import type { Static } from "@sinclair/typebox";
import { toMilliseconds } from "../../../base/audio/sample-rate.ts";
import {
  markedMoments,
  srtCues,
  toMarkdown,
  toSrt,
  toVtt,
  transcriptText,
  vttCues,
} from "./export-formats.ts";
import { presentHeard, presentWords } from "./present-segments.ts";
import { toRttm } from "./rttm.ts";
import type { GapRecord, SegmentRecord } from "./segment-record.ts";
import type { transcriptSchema } from "./segment-schemas.ts";

export type Format = "json" | "txt" | "md" | "srt" | "vtt" | "rttm";

type TranscriptAnswer = Static<typeof transcriptSchema>;

/** A transcript but for its segments, and how it is wanted. */
export interface TranscriptOrder {
  format: Format;
  /** Whether JSON lists the words of each segment. */
  hasWords: boolean;
  about: Omit<TranscriptAnswer, "segments" | "gaps" | "marks">;
  gaps: readonly GapRecord[];
  /** What people marked, in order. */
  marks: readonly Marked[];
  /** Names of those who claimed a label, for files. */
  names: ReadonlyMap<string, string>;
  /** End of the recording, milliseconds, where it is known. */
  soundEnd: number | undefined;
}

/**
 * Writes a whole transcript in its format.
 *
 * @param written the segments as people read them, in their places
 */
export function writeTranscript(
  { format, hasWords, about, gaps, marks, names, soundEnd }: TranscriptOrder,
  segments: readonly SegmentRecord[],
  written: readonly SegmentRecord[],
): string {
  switch (format) {
    case "json":
      return JSON.stringify({
        ...about,
        segments: segments.map((segment, place) => ({
          ...presentHeard(segment),
          ...readableOf(segment, written[place]),
          ...(hasWords ? { words: presentWords(segment.words) } : {}),
        })),
        gaps: gaps.map(presentGap),
        ...(marks.length === 0 ? {} : { marks: marks.map(presentMark) }),
      } satisfies TranscriptAnswer);
    case "txt":
      return transcriptText(written, names);
    case "md":
      return toMarkdown(about.title, written, names) + markedMoments(marks);
    case "srt":
      return toSrt(srtCues(written, names, soundEnd));
    case "vtt":
      return toVtt(vttCues(written, names, soundEnd));
    case "rttm":
      return toRttm(about.session_id, written);
  }
}

function readableOf(
  segment: SegmentRecord,
  written: SegmentRecord | undefined,
): { readable_text?: string } {
  if (written === undefined || written.text === segment.text) return {};
  return { readable_text: written.text };
}

/** A mark as whoever writes a transcript needs it. */
interface Marked {
  id: string;
  atMs: number;
  text: string;
  authorName?: string | undefined;
}

function presentMark({ id, atMs, text, authorName }: Marked) {
  return { id, at_ms: atMs, text, ...(authorName === undefined ? {} : { author: authorName }) };
}

function presentGap({ sequence, start, length }: GapRecord): TranscriptAnswer["gaps"][number] {
  return {
    chunk_sequence: sequence,
    start_ms: toMilliseconds(start),
    end_ms: toMilliseconds(start + length),
  };
}
