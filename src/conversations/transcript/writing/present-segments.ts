import type { Static } from "@sinclair/typebox";
import { toMilliseconds } from "../../../base/audio/sample-rate.ts";
import type { Word } from "../../../session/write.ts";
import type { SegmentRecord } from "./segment-record.ts";
import type {
  heardSegmentSchema,
  revisedSegmentSchema,
  segmentSchema,
  wordSchema,
} from "./segment-schemas.ts";

/** A segment as in 2.2 of the interface. */
export function presentSegment(
  segment: Omit<SegmentRecord, "words" | "revision">,
): Static<typeof segmentSchema> {
  return {
    id: segment.id,
    start_ms: toMilliseconds(segment.start),
    end_ms: toMilliseconds(segment.end),
    speaker_label: segment.label,
    text: segment.text,
    confidence: segment.confidence,
  };
}

export function presentHeard(segment: SegmentRecord): Static<typeof heardSegmentSchema> {
  return {
    ...presentSegment(segment),
    speaker_confidence: segment.speakerConfidence ?? null,
    ...presentOverlaps(segment),
  };
}

function presentOverlaps({
  overlaps = [],
}: SegmentRecord): Pick<Static<typeof heardSegmentSchema>, "also_speaking" | "overlaps"> {
  if (overlaps.length === 0) return {};
  return {
    also_speaking: [...new Set(overlaps.map(({ label }) => label))],
    overlaps: overlaps.map(({ label, segmentId, start, end }) => ({
      speaker_label: label,
      segment_id: segmentId,
      start_ms: toMilliseconds(start),
      end_ms: toMilliseconds(end),
    })),
  };
}

export function presentRevised(segment: SegmentRecord): Static<typeof revisedSegmentSchema> {
  return { ...presentHeard(segment), revision: segment.revision };
}

/** A segment's words, with those that are unclear marked. */
export function presentWords(words: readonly Word[]): Static<typeof wordSchema>[] {
  return words.map((word) => ({
    word: word.text,
    start_ms: toMilliseconds(word.start),
    end_ms: toMilliseconds(word.end),
    confidence: word.confidence,
    ...(word.unclear === true ? { unclear: true } : {}),
    ...(word.timesClamped === true ? { times_clamped: true } : {}),
  }));
}
