import type { TextSegment } from "../../../src/wire/gen/voice/v1/text.ts";
import { findOrders } from "../grounding/planted.ts";

/** What somebody said, as far as it was heard clearly. */
export interface Utterance {
  segmentId: string;
  speaker: string;
  text: string;
  /** True where it speaks to a machine that reads along, and is no fact of the conversation. */
  isOrder: boolean;
}

/** Stands for words that were not heard clearly: nothing is based on them. */
const UNCLEAR = "…";

/** The utterances of a session in which words were heard clearly, in order. */
export function utterancesOf(segments: readonly TextSegment[]): Utterance[] {
  const heard = segments.flatMap(({ id, speaker, text, unclear }) => {
    const places = new Set(unclear);
    const words = text.split(/\s+/u).filter((word) => word !== "");
    if (places.size >= words.length) return [];
    const clear = words.flatMap((word, at) => {
      if (!places.has(at)) return [word];
      return places.has(at - 1) ? [] : [UNCLEAR];
    });
    return [{ segmentId: id, speaker, text: clear.join(" ") }];
  });
  const orders = findOrders(heard);
  return heard.map((utterance, at) => ({ ...utterance, isOrder: orders[at] === true }));
}

/** Share of all words that were heard clearly, 0..1. */
export function clearShare(segments: readonly TextSegment[]): number {
  let words = 0;
  let unclear = 0;
  for (const segment of segments) {
    words += segment.text.split(/\s+/u).filter((word) => word !== "").length;
    unclear += segment.unclear.length;
  }
  return words === 0 ? 0 : 1 - unclear / words;
}

/** From this share of its most tokens on a section ends where the next one may begin. */
const EARLIEST = 0.6;
/** One utterance of so many, by its id, may be the last of a section. */
const ENDS = 6;

/**
 * Cuts a session into sections of at most so many tokens. Where one ends depends on the utterances' ids and
 * on what stands before it in the section alone: what is corrected or said later leaves most of the
 * sections as they were.
 *
 * @param sizeOf the tokens of one utterance
 */
export function cutSections(
  utterances: readonly Utterance[],
  most: number,
  sizeOf: (utterance: Utterance) => number,
): Utterance[][] {
  const sections: Utterance[][] = [];
  let section: Utterance[] = [];
  let size = 0;
  const end = (): void => {
    if (section.length > 0) sections.push(section);
    section = [];
    size = 0;
  };
  for (const utterance of utterances) {
    const own = sizeOf(utterance);
    if (size + own > most) end();
    section.push(utterance);
    size += own;
    if (size >= EARLIEST * most && mayEnd(utterance.segmentId)) end();
  }
  end();
  return sections;
}

/** The same of an id everywhere, and of one id in `ENDS` true (FNV-1a). */
function mayEnd(id: string): boolean {
  let hash = 0x811c9dc5;
  for (const character of id) hash = Math.imul(hash ^ (character.codePointAt(0) ?? 0), 0x01000193);
  return ((hash ^ (hash >>> 15)) >>> 0) % ENDS === 0;
}
