import type { Static } from "@sinclair/typebox";
import { SESSION_RATE, toMilliseconds } from "../../../base/audio/sample-rate.ts";
import { type DocumentHead, factsLine, notesPart } from "./document-parts.ts";
import {
  markedMoments,
  srtCues,
  textHead,
  toMarkdown,
  toSrt,
  toVtt,
  transcriptText,
  vttCues,
} from "./export-formats.ts";
import { presentHeard, presentWords } from "./present-segments.ts";
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
  /** What the speakers are called in files, by label. */
  names: ReadonlyMap<string, string>;
  /** Undefined where only what was said is wanted. */
  head: DocumentHead | undefined;
  /** End of the recording, milliseconds, where it is known. */
  soundEnd: number | undefined;
}

/**
 * Writes a whole transcript in its format.
 *
 * @param written the segments as people read them, in their places
 */
export function writeTranscript(
  order: TranscriptOrder,
  segments: readonly SegmentRecord[],
  written: readonly SegmentRecord[],
): string {
  const { format, hasWords, about, gaps, marks, names, soundEnd, head } = order;
  const facts = head === undefined ? "" : factsLine(head, written, names, soundEnd);
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
      return (
        (head === undefined ? "" : textHead(about.title, facts)) + transcriptText(written, names)
      );
    case "md": {
      const notes = notesPart(head?.notes ?? [], names);
      return (
        toMarkdown({ title: about.title, facts, notes }, written, names) + markedMoments(marks)
      );
    }
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

/**
 * Who spoke when, in NIST's Rich Transcription Time Marked format: a line of type SPEAKER for each
 * segment and for each other voice within it, in order, times in seconds. Names are labels, since
 * the format has no spaces in a name; the file's name is the session's id.
 *
 * Source: NIST, "The 2009 (RT-09) Rich Transcription Meeting Recognition Evaluation Plan", app. A.
 */
function toRttm(sessionId: string, segments: readonly SegmentRecord[]): string {
  return segments
    .flatMap((segment) => [segment, ...(segment.overlaps ?? [])])
    .filter(({ start, end }) => end > start)
    .sort((one, other) => one.start - other.start)
    .map(({ start, end, label }) => {
      const [from, length] = [start, end - start].map((value) => (value / SESSION_RATE).toFixed(3));
      return `SPEAKER ${sessionId} 1 ${from} ${length} <NA> <NA> ${label} <NA> <NA>\n`;
    })
    .join("");
}
