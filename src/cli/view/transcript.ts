import type { operations } from "../../client/gen/api-schema.ts";
import type {
  InterimResultsFrame,
  ResultsBody,
  ServerFrame,
  SessionStatus,
  SnapshotFrame,
  SnapshotSegment,
} from "../../wire/live-frames.ts";
import { unclearIndexes } from "../../wire/unclear-words.ts";
import { isUnsure } from "../../wire/unsure-speakers.ts";

/** The present state of one utterance. */
export interface Line {
  readonly id: string;
  readonly revision: number;
  /** Seconds from the start of the session's audio. */
  readonly start: number;
  readonly speaker: string;
  readonly text: string;
  readonly words: number;
  /** For an interim result: number of leading words that are stable. */
  readonly stableWords?: number;
  /** For a final: indexes, from 0, of its unclear words. */
  readonly unclear?: readonly number[];
  /** True when the speaker is a guess. */
  readonly unsure?: boolean;
  /** Ids of the lines of those who speak within it as well. */
  readonly overlapping?: readonly string[];
}

interface Relabelling {
  readonly line: Line;
  readonly from: string;
}

/** The changes of a frame, for views that cannot redraw their output. */
export interface Change {
  readonly finals: readonly Line[];
  readonly relabelled: readonly Relabelling[];
  /** True when text was transcribed again or edited and must be fetched again. */
  readonly stale: boolean;
}

const NOTHING: Change = { finals: [], relabelled: [], stale: false };

/**
 * A session's transcript, built from the live channel's frames, with finals, interim results and
 * names.
 */
export class Transcript {
  readonly #finals = new Map<string, Line>();
  readonly #interims = new Map<string, Line>();
  readonly #claimed = new Map<string, string>();
  readonly #free = new Map<string, string>();
  #status: SessionStatus = "recording";
  #wasShown = false;

  get status(): SessionStatus {
    return this.#status;
  }

  /** True when the transcript is complete, or the session was deleted. */
  get ended(): boolean {
    return this.#wasShown || this.#status === "deleted";
  }

  get finals(): Line[] {
    return inOrder(this.#finals);
  }

  get interims(): Line[] {
    return inOrder(this.#interims);
  }

  get wordCount(): number {
    return this.finals.reduce((sum, line) => sum + line.words, 0);
  }

  /** The labels of the finals, in order of first speech. */
  get speakers(): string[] {
    return [...new Set(this.finals.map((line) => line.speaker))].filter((label) => label !== "UU");
  }

  /** A label's claimed name, else its free one, else the label. */
  nameOf(speaker: string): string {
    return this.#claimed.get(speaker) ?? this.#free.get(speaker) ?? speaker;
  }

  /** Names of those who speak within the line besides its speaker, by the labels that they have now. */
  besides({ speaker, overlapping = [] }: Line): string[] {
    const labels = overlapping.map((id) => this.#finals.get(id)?.speaker ?? speaker);
    const others = new Set(labels.filter((label) => label !== speaker && label !== "UU"));
    return [...others].map((label) => this.nameOf(label));
  }

  apply(frame: ServerFrame): Change {
    switch (frame.type) {
      case "Snapshot":
        this.#status = frame.session.status;
        this.#interims.clear();
        this.#takeNames(frame.speakers);
        if (frame.interim) this.apply(frame.interim);
        return {
          ...this.replaceFinals(frame.segments.map(lineOfSnapshotSegment)),
          stale: frame.segments_cursor !== undefined,
        };
      case "Results":
        if (frame.is_final) return this.#addFinal(lineOf(frame));
        return this.#addInterim(lineOfInterim(frame));
      case "SpeakerRevision":
        return this.#relabel(frame.revisions, frame.merges);
      case "SpeakerClaimed":
        setOrDelete(this.#claimed, frame.speaker_label, frame.display_name);
        return NOTHING;
      case "SpeakerNamed":
        setOrDelete(this.#free, frame.speaker_label, frame.free_name);
        return NOTHING;
      case "TranscriptReplaced":
        for (const id of frame.removed_segment_ids) this.#finals.delete(id);
        return { ...NOTHING, stale: frame.segment_ids.some((id) => !this.#finals.has(id)) };
      case "SessionStatus":
        this.#status = frame.status;
        if (frame.status !== "recording" && frame.status !== "processing") this.#interims.clear();
        return NOTHING;
      case "SessionEnded":
        this.#status = frame.status;
        this.#wasShown = true;
        return NOTHING;
      default:
        return NOTHING;
    }
  }

  /**
   * Replaces the text by the service's present one; the change includes only new or renamed lines.
   */
  replaceFinals(lines: readonly Line[]): Change {
    const before = new Map(this.#finals);
    this.#finals.clear();
    for (const line of lines) this.#finals.set(line.id, line);
    return {
      finals: lines.filter((line) => before.get(line.id)?.text !== line.text),
      relabelled: lines.flatMap((line) => {
        const old = before.get(line.id);
        return old && old.speaker !== line.speaker ? [{ line, from: old.speaker }] : [];
      }),
      stale: false,
    };
  }

  #takeNames(speakers: SnapshotFrame["speakers"]): void {
    this.#claimed.clear();
    this.#free.clear();
    for (const { speaker_label: label, claimed_user_id, display_name, free_name } of speakers) {
      // Of a label that nobody claimed the display name is the free one.
      if (claimed_user_id !== undefined) setOrDelete(this.#claimed, label, display_name);
      setOrDelete(this.#free, label, free_name);
    }
  }

  #addInterim(line: Line): Change {
    const known = this.#interims.get(line.id);
    const late = this.#finals.has(line.id) || (known && known.revision >= line.revision);
    if (!late) this.#interims.set(line.id, line);
    return NOTHING;
  }

  #addFinal(line: Line): Change {
    this.#interims.delete(line.id);
    const repeated = this.#finals.get(line.id)?.text === line.text;
    this.#finals.set(line.id, line);
    return { ...NOTHING, finals: repeated ? [] : [line] };
  }

  #relabel(
    revisions: readonly { segment_id: string; speaker: string }[],
    merges: readonly { from: string; into: string }[],
  ): Change {
    const wanted = new Map(revisions.map((revision) => [revision.segment_id, revision.speaker]));
    const merged = new Map(merges.map((merge) => [merge.from, merge.into]));
    for (const { from, into } of merges) {
      for (const names of [this.#claimed, this.#free]) moveName(names, from, into);
    }
    const joined = new Set(merges.map(({ into }) => into));
    const relabelled: Relabelling[] = [];
    for (const old of this.#finals.values()) {
      const speaker = wanted.get(old.id) ?? merged.get(old.speaker) ?? old.speaker;
      const line = { ...old, speaker, unsure: false };
      if (speaker === old.speaker) {
        if (old.unsure === true && joined.has(speaker)) this.#finals.set(old.id, line);
        continue;
      }
      this.#finals.set(old.id, line);
      relabelled.push({ line, from: old.speaker });
    }
    return { ...NOTHING, relabelled };
  }
}

function setOrDelete(names: Map<string, string>, label: string, name: string | undefined): void {
  if (name) names.set(label, name);
  else names.delete(label);
}

/** The label that survives a merge keeps its own name, and takes the other's when it has none. */
function moveName(names: Map<string, string>, from: string, into: string): void {
  const name = names.get(from);
  if (name !== undefined && !names.has(into)) names.set(into, name);
  names.delete(from);
}

type ListedSegment =
  operations["listSegments"]["responses"]["200"]["content"]["application/json"]["items"][number];
type Segment = Pick<ListedSegment, "id" | "start_ms" | "speaker_label" | "text" | "words"> &
  Partial<Pick<ListedSegment, "speaker_confidence" | "overlaps">>;

/** Makes a line from a segment of the REST interface. */
export function lineOfSegment({ id, text, words = [], ...segment }: Segment): Line {
  return {
    id,
    revision: 0,
    start: segment.start_ms / 1000,
    speaker: segment.speaker_label ?? "UU",
    unsure: isUnsure(segment.speaker_confidence),
    overlapping: idsOf(segment.overlaps),
    text,
    words: countWords(text),
    unclear: unclearIndexes(words),
  };
}

function lineOf(frame: ResultsBody): Line {
  return {
    ...lineOfSnapshot(frame),
    words: frame.words.length || countWords(frame.transcript),
    unclear: unclearIndexes(frame.words),
  };
}

function lineOfInterim(frame: InterimResultsFrame): Line {
  return { ...lineOf(frame), stableWords: frame.stable_words };
}

function lineOfSnapshotSegment(segment: SnapshotSegment): Line {
  return { ...lineOfSnapshot(segment), unclear: segment.unclear_words ?? [] };
}

function lineOfSnapshot(segment: SnapshotSegment | ResultsBody): Line {
  return {
    id: segment.segment_id,
    revision: segment.revision,
    start: segment.start,
    speaker: segment.speaker,
    unsure: isUnsure(segment.speaker_confidence),
    overlapping: idsOf(segment.overlaps),
    text: segment.transcript,
    words: countWords(segment.transcript),
  };
}

function idsOf(overlaps: readonly { segment_id: string }[] = []): string[] {
  return overlaps.map(({ segment_id: id }) => id);
}

function countWords(text: string): number {
  return text.split(/\s+/).filter((word) => word !== "").length;
}

function inOrder(lines: ReadonlyMap<string, Line>): Line[] {
  return [...lines.values()].sort((a, b) => a.start - b.start);
}
