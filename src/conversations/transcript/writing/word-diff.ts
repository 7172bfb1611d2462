import { diffArrays } from "diff";
import type { SpokenWord } from "./segment-row.ts";

/** Silence of both texts at which they are compared anew, samples at 16 kHz. */
const PAUSE = 3_200;
/** From this many words on any place where nobody is in mid-word will do, and then any place. */
const LONG = { soft: 150, hard: 300 };

type PartKind = "same" | "speaker" | "replaced" | "added" | "removed";

/** A run of words of the same fate. `speaker`: the words are the same, their speaker is not. */
interface DiffPart {
  kind: PartKind;
  /** Words of the text that stands; none where they were added. */
  current: SpokenWord[];
  /** Words of the candidate; none where they were removed. */
  candidate: SpokenWord[];
}

export interface WordDiff {
  parts: DiffPart[];
  /** Numbers of words; one that was replaced counts once. */
  counts: { same: number; replaced: number; added: number; removed: number; speaker: number };
  /** Words that are the same and have another speaker, by both speakers, most first. */
  speakers: { current: string; candidate: string; words: number }[];
}

/**
 * Compares two texts of one recording by words. Words can only correspond between two pauses that
 * both texts have, so that a common word is not matched with one said elsewhere; between them the
 * longest common subsequence decides (Myers 1986). Case and marks do not make another word.
 */
export function diffWords(current: readonly SpokenWord[], candidate: readonly SpokenWord[]) {
  const diff: WordDiff = {
    parts: [],
    counts: { same: 0, replaced: 0, added: 0, removed: 0, speaker: 0 },
    speakers: [],
  };
  for (const stretch of stretchesOf(current, candidate)) diffStretch(diff, stretch);
  diff.speakers = changedSpeakers(diff.parts);
  return diff;
}

type Stretch = Pick<DiffPart, "current" | "candidate">;

function stretchesOf(
  current: readonly SpokenWord[],
  candidate: readonly SpokenWord[],
): readonly Stretch[] {
  const all = [
    ...current.map((word) => ({ word, side: "current" as const })),
    ...candidate.map((word) => ({ word, side: "candidate" as const })),
  ].sort((a, b) => a.word.start - b.word.start);
  const stretches: Stretch[] = [];
  let open: Stretch = { current: [], candidate: [] };
  let end = 0;
  for (const { word, side } of all) {
    const length = open.current.length + open.candidate.length;
    const pause = word.start - end;
    const isCut = pause >= PAUSE || (length >= LONG.soft && pause >= 0) || length >= LONG.hard;
    if (isCut && length > 0) {
      stretches.push(open);
      open = { current: [], candidate: [] };
    }
    open[side].push(word);
    end = Math.max(end, word.end);
  }
  return [...stretches, open];
}

/** In UTF-16 units. */
const LONGEST_WORD = 100;

/** What makes two words the same. */
function keyOf({ text }: SpokenWord): string {
  // What is longer is no word, and sorting its marks would take the square of their number.
  const plain = (text.length > LONGEST_WORD ? text : text.normalize("NFKC")).toLowerCase();
  return plain.replace(/[^\p{L}\p{N}]+/gu, "") || plain;
}

function diffStretch(diff: WordDiff, { current, candidate }: Stretch): void {
  const changes = diffArrays(current.map(keyOf), candidate.map(keyOf));
  let [at, to] = [0, 0];
  let hunk: Stretch = { current: [], candidate: [] };
  const endHunk = (): void => {
    addHunk(diff, hunk);
    hunk = { current: [], candidate: [] };
  };
  for (const { added, removed, count } of changes) {
    if (removed) {
      hunk.current.push(...current.slice(at, at + count));
      at += count;
    } else if (added) {
      hunk.candidate.push(...candidate.slice(to, to + count));
      to += count;
    } else {
      endHunk();
      addCommon(diff, current.slice(at, at + count), candidate.slice(to, to + count));
      at += count;
      to += count;
    }
  }
  endHunk();
}

function addHunk({ parts, counts }: WordDiff, { current, candidate }: Stretch): void {
  const [gone, come] = [current.length, candidate.length];
  if (gone + come === 0) return;
  counts.replaced += Math.min(gone, come);
  counts.removed += Math.max(0, gone - come);
  counts.added += Math.max(0, come - gone);
  const kind = gone === 0 ? "added" : come === 0 ? "removed" : "replaced";
  parts.push({ kind, current, candidate });
}

/** Adds words that both texts have, in runs of the same speakers. */
function addCommon({ parts, counts }: WordDiff, current: SpokenWord[], candidate: SpokenWord[]) {
  for (const [index, before] of current.entries()) {
    const after = candidate[index];
    if (after === undefined) continue;
    const kind = before.speaker === after.speaker ? "same" : "speaker";
    counts[kind] += 1;
    const last = parts.at(-1);
    const goesOn =
      last?.kind === kind &&
      last.current.at(-1)?.speaker === before.speaker &&
      last.candidate.at(-1)?.speaker === after.speaker;
    if (goesOn) {
      last.current.push(before);
      last.candidate.push(after);
    } else {
      parts.push({ kind, current: [before], candidate: [after] });
    }
  }
}

function changedSpeakers(parts: readonly DiffPart[]): WordDiff["speakers"] {
  const found = new Map<string, WordDiff["speakers"][number]>();
  for (const { kind, current, candidate } of parts) {
    const [from, to] = [current[0]?.speaker, candidate[0]?.speaker];
    if (kind !== "speaker" || from === undefined || to === undefined) continue;
    const entry = found.get(`${from} ${to}`) ?? { current: from, candidate: to, words: 0 };
    entry.words += current.length;
    found.set(`${from} ${to}`, entry);
  }
  return [...found.values()].sort((a, b) => b.words - a.words);
}
