import type { RecognisedSegment } from "../session/command.ts";
import type { Span } from "../session/span.ts";
import type { Word } from "../session/write.ts";
import type { Segment } from "../wire/gen/voice/v1/worker.ts";
import { toSegment } from "./recognised.ts";

type RecognisedWord = Segment["words"][number];

interface Place {
  position: number;
  /** It lies in sound that has no room on the timeline. */
  isClamped: boolean;
}

/**
 * The time of a reading in which sound follows sound where late chunks are
 * longer or shorter than their places: it runs ahead of the timeline by what was
 * too long, and behind by what was too short. On the timeline what was too long
 * stands at the end of its chunk's place.
 */
export class StretchedTime {
  readonly #stretches: { end: number; excess: number }[] = [];

  /** By how much it runs ahead by now; negative when it is behind. */
  get shift(): number {
    return this.#stretches.reduce((sum, { excess }) => sum + excess, 0);
  }

  /** The sound of a chunk goes on for so many samples behind its place's end, or ends so many before. */
  stretch(end: number, excess: number): void {
    this.#stretches.push({ end, excess });
  }

  /** Where a position of the reading is on the timeline. */
  placeOf(position: number): Place {
    let place = position;
    for (const { end, excess } of this.#stretches) {
      if (place <= end) break;
      if (place < end + excess) return { position: end, isClamped: true };
      place -= excess;
    }
    return { position: place, isClamped: false };
  }

  /** True where sound without room on the timeline is still to come that stands there, too. */
  isWithinExcess(position: number): boolean {
    let place = position;
    for (const { end, excess } of this.#stretches) {
      if (place < end) return false;
      if (place < end + excess) return true;
      place -= excess;
    }
    return false;
  }

  /** A segment of the reading as it stands on the timeline. */
  segment(read: Segment): RecognisedSegment {
    const segment = toSegment(read);
    if (this.#stretches.length === 0) return segment;
    const words = segment.words.map((word) => this.#word(word));
    const placed = this.#placed(segment);
    const [first, last] = [words[0], words.at(-1)];
    const start = Math.max(placed.start, first?.timesClamped ? first.start : 0);
    const end = last?.timesClamped ? Math.min(placed.end, last.end) : placed.end;
    return { ...segment, start, end: Math.max(start, end), words };
  }

  #word(word: RecognisedWord): Word {
    const { start, end, isClamped } = this.#placed(word);
    const length = word.end - word.start;
    if (end - start > Math.max(1, length)) {
      // It reaches over a hole that the reading did not hear: it stands where most of it lies.
      const isBefore = this.placeOf((word.start + word.end) / 2).position <= start + length;
      const place = isBefore ? { start, end: start + length } : { start: end - length, end };
      return { ...word, ...place, timesClamped: true };
    }
    return isClamped ? { ...word, start, end, timesClamped: true } : { ...word, start, end };
  }

  #placed(span: Span): Span & Pick<Place, "isClamped"> {
    const [start, end] = [this.#start(span.start), this.#end(span.end)];
    return {
      start: start.position,
      end: Math.max(start.position, end.position),
      isClamped: start.isClamped || end.isClamped,
    };
  }

  /**
   * What begins where the sound of a chunk ends belongs to what follows it. Where that has no room
   * it still belongs to the chunk's place: it begins with its last sample.
   */
  #start(position: number): Place {
    let place = position;
    for (const { end, excess } of this.#stretches) {
      if (place < end) break;
      if (place < end + excess) return { position: Math.max(0, end - 1), isClamped: true };
      place -= excess;
    }
    return { position: place, isClamped: false };
  }

  /** What ends with sound that has no room ends in it. */
  #end(position: number): Place {
    let place = position;
    for (const { end, excess } of this.#stretches) {
      if (place <= end) break;
      if (place <= end + excess) return { position: end, isClamped: true };
      place -= excess;
    }
    return { position: place, isClamped: false };
  }
}
