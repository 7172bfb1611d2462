import { markUnclear, unclearPlaces } from "../../base/unclear-words.ts";
import type { SegmentRecord } from "./segments.ts";

type Spoken = Pick<SegmentRecord, "text" | "words">;

/** A segment's words one by one as its text has them, with those that are unclear; none of a text that its words do not make up. */
function spokenWords({ text, words }: Spoken): { texts: string[]; unclear: number[] } {
  const texts = text.split(/\s+/).filter((word) => word !== "");
  return { texts, unclear: texts.length === words.length ? unclearPlaces(words) : [] };
}

export function hasUnclear(segment: Spoken): boolean {
  return spokenWords(segment).unclear.length > 0;
}

/** A segment's text for people, its unclear words marked; `quote` is for what the format would take for its own. */
export function markedText(
  segment: Spoken,
  quote: (text: string) => string = (text) => text,
): string {
  const { texts, unclear } = spokenWords(segment);
  return unclear.length === 0 ? quote(segment.text) : markUnclear(texts.map(quote), unclear);
}
