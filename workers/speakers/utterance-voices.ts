import { LEAST_EMBEDDED, LONGEST_SEGMENTED } from "../inference/voice-shapes.ts";
import { type LocalVoices, localVoices } from "./local-voices.ts";
import type { RecentSound } from "./recent-sound.ts";
import type { PendingNumbers, VoiceAnalysis } from "./voice-analysis.ts";

/** Speech of one voice with its vector. */
export interface EmbeddedSubsegment {
  start: number;
  end: number;
  embedding: Float32Array;
}

/** Sound that is embedded in one subsegment, 1.5 s, and between the starts of two subsegments, samples. */
const SUBSEGMENT = 24_000;
const SUBSEGMENT_SHIFT = 12_000;
/** The end of a turn has a subsegment of its own where this much of it is in none, samples. */
const LEAST_REST = 1_600;
/** Between the starts of two windows for segmentation, samples. */
const WINDOW_SHIFT = 128_000;
/** A subsegment counts for a voice that has this share of its speech alone, where no more of it overlaps. */
const PURE = 0.5;
const MOST_OVERLAP = 0.25;

interface Asked {
  start: number;
  end: number;
  answer: PendingNumbers;
}

/** A turn of one voice in an utterance, with the vectors of its speech. */
export interface VoiceTurn {
  /** Its number within the utterance. */
  voice: number;
  start: number;
  end: number;
  spokenTo: number;
  subsegments: EmbeddedSubsegment[];
}

/** Who speaks when in an utterance. */
interface SpokenUtterance {
  turns: VoiceTurn[];
  overlaps: LocalVoices["overlaps"];
}

/**
 * Asks the networks about one utterance while it is spoken. Which sound they are given depends on
 * where the utterance begins and ends alone.
 */
export class UtteranceVoices {
  readonly start: number;
  readonly #analysis: VoiceAnalysis;
  readonly #sound: RecentSound;
  readonly #vectors = new Map<string, Asked>();
  readonly #windows = new Map<string, Asked>();
  #local: { end: number; voices: LocalVoices } | undefined;

  constructor(start: number, analysis: VoiceAnalysis, sound: RecentSound) {
    this.start = start;
    this.#analysis = analysis;
    this.#sound = sound;
  }

  /** Asks about what is complete already, if the utterance goes on beyond `position`. */
  advance(position: number): void {
    for (const span of subsegmentsIn(this.start, position)) this.#ask(this.#vectors, span);
    for (const span of windowsIn(this.start, position)) this.#ask(this.#windows, span);
  }

  /** The vector of the newest subsegment that is there. */
  newest(): Float32Array | undefined {
    return [...this.#vectors.values()].findLast(({ answer }) => answer.numbers)?.answer.numbers;
  }

  /** Asks for what is missing of the utterance up to `end`; true when all of it is there. */
  settle(end: number): boolean {
    this.advance(end);
    const voices = this.#localVoices(end);
    if (voices === undefined) return false;
    const asked = this.#spans(voices).map((spans) =>
      spans.map((span) => this.#ask(this.#vectors, span)),
    );
    return asked.flat().every(({ answer }) => answer.numbers !== undefined);
  }

  /** What was found; to be called when `settle` was true for the same end. */
  result(end: number): SpokenUtterance {
    const voices = this.#localVoices(end);
    if (voices === undefined) return { turns: [], overlaps: [] };
    const spans = this.#spans(voices);
    const turns = voices.turns.map((turn, n) => ({
      ...turn,
      subsegments: (spans[n] ?? []).flatMap((span) => {
        const embedding = this.#vectors.get(nameOf(span))?.answer.numbers;
        return embedding === undefined ? [] : [{ ...span, embedding }];
      }),
    }));
    return { turns, overlaps: voices.overlaps };
  }

  /** Nobody waits for the answers any more. */
  drop(): void {
    for (const { answer } of [...this.#vectors.values(), ...this.#windows.values()]) answer.drop();
  }

  #ask(asked: Map<string, Asked>, { start, end }: { start: number; end: number }): Asked {
    const name = nameOf({ start, end });
    const known = asked.get(name);
    if (known !== undefined) return known;
    const pcm = this.#sound.slice(start, end);
    const isSubsegment = asked === this.#vectors;
    const answer = isSubsegment ? this.#analysis.embed(pcm) : this.#analysis.segment(pcm);
    const fresh = { start, end, answer };
    asked.set(name, fresh);
    return fresh;
  }

  /** Who speaks when in the whole utterance; undefined while an answer is missing. */
  #localVoices(end: number): LocalVoices | undefined {
    if (this.#local?.end === end) return this.#local.voices;
    const last = { start: Math.max(this.start, end - LONGEST_SEGMENTED), end };
    const spans = [...windowsIn(this.start, end).filter((span) => span.start < last.start), last];
    const windows = spans.map((span) => this.#ask(this.#windows, span));
    const answered = windows.flatMap(({ start, end, answer: { numbers: scores } }) =>
      scores === undefined ? [] : [{ start, end, scores }],
    );
    if (answered.length < windows.length) return undefined;
    const voices = localVoices(answered, this.start, end);
    this.#local = { end, voices };
    return voices;
  }

  /** For each turn what of its sound is embedded. */
  #spans({ turns, sharesIn }: LocalVoices): { start: number; end: number }[][] {
    return turns.map(({ voice, start, spokenTo }) => {
      const pure = subsegmentsIn(this.start, spokenTo).filter((each) => {
        if (each.start + SUBSEGMENT / 2 < start) return false;
        const { own, speech, overlap } = sharesIn(each.start, each.end, voice);
        return own >= PURE * speech && overlap <= MOST_OVERLAP && speech > 0.5;
      });
      const from = Math.max(start, spokenTo - SUBSEGMENT);
      const isLong = spokenTo - from >= LEAST_EMBEDDED;
      const left = spokenTo - (pure.at(-1)?.end ?? Number.NEGATIVE_INFINITY);
      return isLong && left >= LEAST_REST ? [...pure, { start: from, end: spokenTo }] : pure;
    });
  }
}

/** The subsegments of an utterance that are complete at `position`. */
function subsegmentsIn(start: number, position: number): { start: number; end: number }[] {
  const count = Math.floor((position - start - SUBSEGMENT) / SUBSEGMENT_SHIFT) + 1;
  return Array.from({ length: Math.max(0, count) }, (_, n) => {
    return { start: start + n * SUBSEGMENT_SHIFT, end: start + n * SUBSEGMENT_SHIFT + SUBSEGMENT };
  });
}

/** The windows of full length that are complete at `position`. */
function windowsIn(start: number, position: number): { start: number; end: number }[] {
  const count = Math.floor((position - start - LONGEST_SEGMENTED) / WINDOW_SHIFT) + 1;
  return Array.from({ length: Math.max(0, count) }, (_, n) => {
    const from = start + n * WINDOW_SHIFT;
    return { start: from, end: from + LONGEST_SEGMENTED };
  });
}

function nameOf({ start, end }: { start: number; end: number }): string {
  return `${start} ${end}`;
}
