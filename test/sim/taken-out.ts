import { toSeconds } from "../../src/live/render.ts";
import type { ServerFrame } from "../../src/wire/live-frames.ts";
import type { RedactionRow } from "../support/record/rows.ts";
import type { Kernel } from "./kernel/kernel.ts";

/** Of times that are rounded to a millisecond: a start, a length and the end of a span add up. */
const ROUNDING = 0.002;

/** Seconds of the timeline. */
interface Span {
  start: number;
  end: number;
}

/** Since when what is taken out. */
export class RedactionTwin {
  readonly #kernel: Kernel;
  readonly #rows = new Map<string, { row: RedactionRow; at: number }>();

  constructor(kernel: Kernel) {
    this.#kernel = kernel;
  }

  /** Told of what is on record, again and again. */
  note(rows: readonly RedactionRow[]): void {
    const at = this.#kernel.now;
    for (const row of rows) if (!this.#rows.has(row.id)) this.#rows.set(row.id, { row, at });
  }

  /** What everybody said there was taken out of it, at least so many milliseconds ago. */
  of(sessionId: string, ms: number): Span[] {
    return [...this.#rows.values()]
      .filter(({ row, at }) => row.session_id === sessionId && at <= this.#kernel.now - ms)
      .filter(({ row }) => row.label === null)
      .map(({ row }) => ({ start: toSeconds(row.start_sample), end: toSeconds(row.end_sample) }));
  }
}

/** What a viewer may not be shown any more, and whether it is shown to him all the same. */
export class TakenOut {
  readonly #spans: Span[] = [];
  readonly #segments = new Set<string>();
  #isDeleted = false;

  /** What was taken out long before he came. */
  know(spans: readonly Span[]): void {
    this.#spans.push(...spans);
  }

  /** The words that he should not have been shown; undefined when all is well. */
  see(frame: ServerFrame): string | undefined {
    if (frame.type === "Redacted") {
      if (frame.speaker === undefined) this.#spans.push(frame.span);
      for (const id of frame.segment_ids) this.#segments.add(id);
    }
    if (frame.type === "SessionStatus" && frame.status === "deleted") this.#isDeleted = true;
    if (frame.type === "Snapshot") {
      const shown = [...frame.segments, ...(frame.interim === undefined ? [] : [frame.interim])];
      return shown.map((each) => this.#shown(each)).find((words) => words !== undefined);
    }
    if (frame.type === "Results") return this.#shown(frame);
    if (frame.type === "SegmentRevised" && this.#segments.has(frame.segment_id)) {
      return isWithoutWords(frame.transcript) ? undefined : frame.transcript;
    }
    return undefined;
  }

  #shown(segment: {
    segment_id: string;
    start: number;
    duration: number;
    transcript: string;
  }): string | undefined {
    const { segment_id: id, duration, transcript } = segment;
    const [start, end] = [segment.start + ROUNDING, segment.start + duration - ROUNDING];
    const isTakenOut =
      this.#isDeleted ||
      this.#segments.has(id) ||
      this.#spans.some((span) => start < span.end && end > span.start);
    return isTakenOut && !isWithoutWords(transcript) ? transcript : undefined;
  }
}

function isWithoutWords(transcript: string): boolean {
  return transcript === "" || transcript.startsWith("[redacted-");
}
