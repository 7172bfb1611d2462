import type { Static } from "@sinclair/typebox";
import { toSeconds } from "../../../base/audio/sample-rate.ts";
import type { comparisonSchema } from "./comparison-schema.ts";
import { comparedWords, type SpokenWord } from "./segment-row.ts";
import { diffWords, type WordDiff } from "./word-diff.ts";

type Comparison = Static<typeof comparisonSchema>;

/** A comparison but for what is compared. */
export type ComparisonOrder = Omit<Comparison, "counts" | "speakers" | "parts">;

/** @param json of `CandidateStore.texts` */
export function writeComparison(order: ComparisonOrder, json: string): string {
  const { current, candidate } = comparedWords(json);
  return JSON.stringify(presentDiff(order, diffWords(current, candidate)));
}

function presentDiff(order: ComparisonOrder, { counts, speakers, parts }: WordDiff): Comparison {
  const { speaker: speaker_changed, ...others } = counts;
  return {
    ...order,
    counts: { ...others, speaker_changed },
    speakers,
    parts: parts.map(({ kind, current, candidate }) => {
      const all = [...current, ...candidate];
      return {
        kind,
        start: toSeconds(
          all.reduce((least, { start }) => Math.min(least, start), Number.POSITIVE_INFINITY),
        ),
        end: toSeconds(all.reduce((most, { end }) => Math.max(most, end), 0)),
        current: presentSide(current),
        candidate: presentSide(candidate),
      };
    }),
  };
}

function presentSide(said: readonly SpokenWord[]): Comparison["parts"][number]["current"] {
  if (said.length === 0) return undefined;
  const speakers = [...new Set(said.map(({ speaker }) => speaker))];
  return { text: said.map(({ text }) => text).join(" "), speakers };
}
