import type { ServerFrame, SnapshotFrame } from "../../../../wire/live-frames.ts";
import { unclearIndexes } from "../../../../wire/unclear-words.ts";
import { isUnsure } from "../../../../wire/unsure-speakers.ts";
import type { Segment } from "../../../api/records.ts";

/** A word with its times, in seconds from the start of the session's audio. */
interface TimedWord {
  readonly word: string;
  readonly start: number;
  readonly end: number;
}

/** An utterance as it stands now. Times are seconds from the start of the session's audio. */
export interface Line {
  readonly id: string;
  readonly revision: number;
  readonly start: number;
  readonly end: number;
  /** `S1`, `S2`, …, or `UU` when unknown. */
  readonly speaker: string;
  /** True when the speaker is a guess. */
  readonly isGuess: boolean;
  readonly text: string;
  readonly isFinal: boolean;
  /** Leading words of an interim result that will very likely stand. */
  readonly stableWords?: number;
  /** Absent until they were asked for, and after a person's edit. */
  readonly words?: readonly TimedWord[] | undefined;
  /** Places, from 0, of words that are likely misheard. */
  readonly unclear: readonly number[];
  /** Where others speak within it; absent where nobody does. */
  readonly overlaps?: readonly Overlap[] | undefined;
}

/** Speech of another line's speaker within a line, seconds. */
interface Overlap {
  /** The line with that voice's words, whose speaker it is. */
  readonly lineId: string;
  readonly start: number;
  readonly end: number;
}

/** What a label is called: by a claim, or by a name that somebody gave it. */
interface Name {
  readonly claimedBy?: string | undefined;
  readonly claimedName?: string | undefined;
  readonly freeName?: string | undefined;
}

/** Names by label. */
export type Names = ReadonlyMap<string, Name>;

/** The claim's name, else the given one, else the label in words. */
export function nameOf(names: Names, label: string): string {
  const { claimedName, freeName } = names.get(label) ?? {};
  return claimedName || freeName || (label === "UU" ? "Unknown" : `Speaker ${label.slice(1)}`);
}

/**
 * A session's words, built from the frames of the live channel. Finals are in order of time; interim
 * results stand behind them until the final of the same id takes their place.
 */
export class TranscriptState {
  readonly #finals = new Map<string, Line>();
  readonly #interims = new Map<string, Line>();
  #names: Names = new Map();
  #sorted: readonly Line[] | undefined;

  /** All lines in order of time, interim ones last. */
  get lines(): readonly Line[] {
    this.#sorted ??= [...inOrder(this.#finals), ...inOrder(this.#interims)];
    return this.#sorted;
  }

  /** Where others than its speaker speak within the line, by the labels that they have now. */
  overlapsOf(line: Line): { label: string; start: number; end: number }[] {
    return (line.overlaps ?? []).flatMap(({ lineId, start, end }) => {
      const label = this.#finals.get(lineId)?.speaker ?? line.speaker;
      return label === line.speaker || label === "UU" ? [] : [{ label, start, end }];
    });
  }

  /** Labels of the finals, in order of their numbers. */
  get speakers(): string[] {
    const found = new Set([...this.#finals.values()].map(({ speaker }) => speaker));
    return [...found].filter((label) => label !== "UU").sort(byNumber);
  }

  /** Another map whenever a name has changed. */
  get names(): Names {
    return this.#names;
  }

  /** Takes a frame; `stale` says that segments have to be asked for anew. */
  apply(frame: ServerFrame): "same" | "changed" | "stale" {
    const outcome = this.#apply(frame);
    if (outcome !== "same") this.#sorted = undefined;
    return outcome;
  }

  #apply(frame: ServerFrame): "same" | "changed" | "stale" {
    switch (frame.type) {
      case "Snapshot":
        return this.#restart(frame);
      case "Results":
        return this.#hear(frame);
      case "SegmentRevised": {
        const { segment_id: id, transcript: text, speaker, revision } = frame;
        const old = this.#finals.get(id);
        if (old === undefined) return "stale";
        // The times of an edited line's words are asked for when they are needed.
        this.#finals.set(id, { ...old, text, speaker, revision, words: undefined, unclear: [] });
        return "stale";
      }
      case "TranscriptReplaced":
        for (const id of frame.removed_segment_ids) this.#finals.delete(id);
        return "stale";
      case "Redacted":
        return "stale";
      case "SpeakerRevision":
        return this.#relabel(frame.revisions, frame.merges);
      case "SpeakerClaimed": {
        const { speaker_label: label, claimed_user_id: claimedBy, display_name: name } = frame;
        const { freeName } = this.#names.get(label) ?? {};
        const claim = frame.revoked ? {} : { claimedBy, claimedName: name };
        this.#rename(label, { freeName, ...claim });
        return "changed";
      }
      case "SpeakerNamed": {
        const { speaker_label: label, free_name: freeName } = frame;
        this.#rename(label, { ...this.#names.get(label), freeName });
        return "changed";
      }
      case "SessionEnded":
        this.#interims.clear();
        return "changed";
      default:
        return "same";
    }
  }

  /**
   * Takes a page of segments as the service has them now, with their words. A line that came newer
   * over the live channel meanwhile stays.
   */
  merge(segments: readonly Segment[]): void {
    for (const segment of segments) {
      const known = this.#finals.get(segment.id);
      if (known !== undefined && known.revision > segment.revision) continue;
      this.#finals.set(segment.id, lineOfSegment(segment));
    }
    this.#sorted = undefined;
  }

  /** Drops finals that are neither of these nor have come since. */
  keepOnly(ids: ReadonlySet<string>): void {
    for (const id of this.#finals.keys()) if (!ids.has(id)) this.#finals.delete(id);
    this.#sorted = undefined;
  }

  get finalIds(): string[] {
    return [...this.#finals.keys()];
  }

  #restart({ segments, speakers, interim, segments_cursor: more }: SnapshotFrame) {
    this.#finals.clear();
    this.#interims.clear();
    const names = new Map<string, Name>();
    for (const each of speakers) {
      const { speaker_label: label, claimed_user_id: claimedBy, display_name: name } = each;
      const claim = claimedBy === undefined ? {} : { claimedBy, claimedName: name };
      names.set(label, { freeName: each.free_name, ...claim });
    }
    this.#names = names;
    for (const each of segments) {
      this.#finals.set(each.segment_id, {
        id: each.segment_id,
        revision: each.revision,
        start: each.start,
        end: each.start + each.duration,
        speaker: each.speaker,
        isGuess: isUnsure(each.speaker_confidence),
        text: each.transcript,
        isFinal: true,
        unclear: each.unclear_words ?? [],
        overlaps: each.overlaps?.map(overlapOf),
      });
    }
    if (interim !== undefined) this.#hear(interim);
    return more === undefined ? "changed" : "stale";
  }

  #hear(frame: Extract<ServerFrame, { type: "Results" }>): "same" | "changed" {
    const line: Line = {
      id: frame.segment_id,
      revision: frame.revision,
      start: frame.start,
      end: frame.start + frame.duration,
      speaker: frame.speaker,
      isGuess: isUnsure(frame.speaker_confidence),
      text: frame.transcript,
      isFinal: frame.is_final,
      words: frame.words,
      unclear: unclearIndexes(frame.words),
      overlaps: frame.overlaps?.map(overlapOf),
      ...(frame.is_final ? {} : { stableWords: frame.stable_words }),
    };
    if (frame.is_final) {
      this.#interims.delete(line.id);
      this.#finals.set(line.id, line);
      return "changed";
    }
    const known = this.#interims.get(line.id);
    const isLate = this.#finals.has(line.id) || (known && known.revision >= line.revision);
    if (isLate) return "same";
    this.#interims.set(line.id, line);
    return "changed";
  }

  #relabel(
    revisions: readonly { segment_id: string; speaker: string }[],
    merges: readonly { from: string; into: string }[],
  ): "changed" {
    const wanted = new Map(revisions.map((each) => [each.segment_id, each.speaker]));
    const merged = new Map(merges.map(({ from, into }) => [from, into]));
    for (const line of [...this.#finals.values()]) {
      const speaker = wanted.get(line.id) ?? merged.get(line.speaker) ?? line.speaker;
      if (speaker !== line.speaker) {
        this.#finals.set(line.id, { ...line, speaker, isGuess: false });
      }
    }
    const names = new Map(this.#names);
    for (const { from, into } of merges) {
      const name = names.get(from);
      if (name !== undefined) names.set(into, { ...name, ...names.get(into) });
      names.delete(from);
    }
    this.#names = names;
    return "changed";
  }

  #rename(label: string, name: Name): void {
    this.#names = new Map(this.#names).set(label, name);
  }
}

function lineOfSegment(segment: Segment): Line {
  const { words = [] } = segment;
  return {
    id: segment.id,
    revision: segment.revision,
    start: segment.start_ms / 1_000,
    end: segment.end_ms / 1_000,
    speaker: segment.speaker_label ?? "UU",
    isGuess: isUnsure(segment.speaker_confidence),
    text: segment.text,
    isFinal: true,
    words: words.map(({ word, start_ms, end_ms }) => ({
      word,
      start: start_ms / 1_000,
      end: end_ms / 1_000,
    })),
    unclear: unclearIndexes(words),
    overlaps: segment.overlaps?.map(({ segment_id: lineId, start_ms, end_ms }) => {
      return { lineId, start: start_ms / 1_000, end: end_ms / 1_000 };
    }),
  };
}

function overlapOf(overlap: { segment_id: string; start: number; end: number }): Overlap {
  return { lineId: overlap.segment_id, start: overlap.start, end: overlap.end };
}

function inOrder(lines: ReadonlyMap<string, Line>): Line[] {
  return [...lines.values()].sort((a, b) => a.start - b.start || (a.id < b.id ? -1 : 1));
}

function byNumber(a: string, b: string): number {
  return Number(a.slice(1)) - Number(b.slice(1));
}

export interface Share {
  readonly label: string;
  /** Of all that was spoken, 0 to 1. */
  readonly share: number;
  readonly seconds: number;
  readonly lines: number;
}

/**
 * Who spoke how much, by the lengths of the final lines and of what others said within them; who
 * spoke most comes first.
 */
export function sharesOf(
  lines: readonly Line[],
  overlapsOf: TranscriptState["overlapsOf"],
): Share[] {
  const found = new Map<string, { seconds: number; lines: number }>();
  const add = (label: string, { start, end }: { start: number; end: number }, lines: number) => {
    const sum = found.get(label) ?? { seconds: 0, lines: 0 };
    const seconds = sum.seconds + Math.max(0, end - start);
    found.set(label, { seconds, lines: sum.lines + lines });
  };
  for (const line of lines) {
    if (!line.isFinal) continue;
    add(line.speaker, line, 1);
    for (const overlap of overlapsOf(line)) add(overlap.label, overlap, 0);
  }
  const all = [...found.values()].reduce((sum, { seconds }) => sum + seconds, 0);
  return [...found]
    .map(([label, sum]) => ({ label, ...sum, share: all === 0 ? 0 : sum.seconds / all }))
    .sort((a, b) => b.seconds - a.seconds);
}

/** Words of a line with capitals and sentence marks, for the words that it had when they were made. */
export interface Readable {
  readonly raw: string;
  readonly words: readonly string[];
}

/**
 * Takes a readable text apart into the words of the raw one. Undefined where both do not fit word by
 * word: then the raw one is shown, as times and marks go by its words.
 */
export function readableWords(raw: string, text: string): Readable | undefined {
  const words = text.split(" ");
  const plain = raw.split(" ");
  const fits =
    words.length === plain.length && words.every((word, n) => bare(word) === bare(plain[n] ?? ""));
  return fits ? { raw, words } : undefined;
}

function bare(word: string): string {
  return word.toLowerCase().replaceAll(/[^\p{L}\p{N}]/gu, "");
}
