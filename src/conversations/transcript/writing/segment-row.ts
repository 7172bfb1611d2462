import { z } from "zod";
import { optionalColumn } from "../../../postgres/optional-column.ts";
import type { Word } from "../../../session/write.ts";
import type { SegmentRecord } from "./segment-record.ts";

/**
 * The column `segments.words`. Checked by hand: a session of eight hours has 75,000 words, and a
 * schema takes several times as long for each.
 */
export const wordsColumn = z.custom<Word[]>(areWords, "not a list of words");

function areWords(value: unknown): boolean {
  return Array.isArray(value) && value.every(isWord);
}

function isWord(value: unknown): boolean {
  if (typeof value !== "object" || value === null) return false;
  const { text, start, end, confidence, unclear, timesClamped } = value as Record<string, unknown>;
  return (
    typeof text === "string" &&
    typeof start === "number" &&
    typeof end === "number" &&
    typeof confidence === "number" &&
    (unclear === undefined || typeof unclear === "boolean") &&
    (timesClamped === undefined || typeof timesClamped === "boolean")
  );
}

/** Where others speak within a segment. */
export const overlapsColumn = optionalColumn(
  z.array(
    z.object({ segmentId: z.string(), label: z.string(), start: z.number(), end: z.number() }),
  ),
);

export const segmentRow = z.object({
  id: z.string(),
  start: z.number(),
  end: z.number(),
  label: z.string(),
  text: z.string(),
  words: wordsColumn,
  confidence: z.number(),
  speakerConfidence: optionalColumn(z.number()),
  overlaps: overlapsColumn,
  revision: z.number(),
  redacted: z.boolean(),
});

const segmentRows = z.array(segmentRow);

/** Reads what `SegmentStore.asJson` gives; throws when that is something else. */
export function segmentsOf(json: string): SegmentRecord[] {
  return segmentRows.parse(JSON.parse(json));
}

const comparedRows = z.array(
  z.object({
    isCandidate: z.boolean(),
    isKept: z.boolean(),
    label: z.string(),
    words: wordsColumn,
  }),
);

/** A word of one of two texts that are compared; times in samples. */
export interface SpokenWord {
  text: string;
  start: number;
  end: number;
  speaker: string;
}

/** Reads what `CandidateStore.texts` gives. */
export function comparedWords(json: string): Record<"current" | "candidate", SpokenWord[]> {
  const rows = comparedRows.parse(JSON.parse(json));
  return {
    current: spoken(rows.filter(({ isCandidate }) => !isCandidate)),
    candidate: spoken(rows.filter(({ isCandidate, isKept }) => isCandidate || isKept)),
  };
}

function spoken(rows: z.output<typeof comparedRows>): SpokenWord[] {
  return rows.flatMap(({ label, words }) =>
    words.map(({ text, start, end }) => ({ text, start, end, speaker: label })),
  );
}
