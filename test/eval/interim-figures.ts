import { SAMPLES_PER_MS } from "../../src/base/audio/sample-rate.ts";
import type { Hypothesis, Utterance, Word } from "../../src/wire/gen/voice/v1/worker.ts";
import type { LiveReading } from "./live-reading.ts";
import { type WordErrors, wordErrors } from "./word-error-rate.ts";

/** A word of a hypothesis and one of the final are the same when they begin this near: 600 ms. */
const NEAR = 9_600;

interface Heard {
  at: number;
  hypothesis: Hypothesis;
}

export interface InterimSummary {
  finals: number;
  wait_p50: number | undefined;
  wait_p95: number | undefined;
  final_p50: number | undefined;
  final_p95: number | undefined;
  interim_p50: number | undefined;
  interim_p95: number | undefined;
  words: number;
  stable: number;
  /** Stable words that the final, aligned to them, has otherwise or not at all. */
  changed: number;
  /** Share of the final's places at which another word was shown before. */
  shown_changed: number | undefined;
  stable_after_p50: number | undefined;
  wer: number | undefined;
  real_time_factor: number;
}

/** Adds up the readings of one set of recordings. Times in ms. */
export class InterimFigures {
  /** From the last voiced frame to the frame that ended the utterance. */
  readonly #waits: number[] = [];
  /** From the last voiced frame to the final. */
  readonly #finals: number[] = [];
  /** From a word's end to its first appearance. */
  readonly #interims: number[] = [];
  /** From a word's end to the hypothesis that first called it stable. */
  readonly #stableAfter: number[] = [];
  readonly #errors: WordErrors[] = [];
  #words = 0;
  #changed = 0;
  #shownChanges = 0;
  #computeMs = 0;
  #audioMs = 0;

  add(
    reading: LiveReading,
    samples: number,
    reference: readonly string[] | undefined,
    normalise: (text: string) => string[],
  ): void {
    this.#computeMs += reading.computeMs;
    this.#audioMs += samples / SAMPLES_PER_MS;
    const text: string[] = [];
    let heard: Heard[] = [];
    for (const { at, message } of reading.messages) {
      if (message.$case === "hypothesis") heard.push({ at, hypothesis: message.value });
      if (message.$case !== "utterance") continue;
      const words = message.value.segments.flatMap((segment) => segment.words);
      text.push(...words.map((word) => word.text));
      // The end of the recording ends an utterance without a pause.
      if (words.length > 0 && message.value.end < samples) {
        this.#addEnd(reading, at, message.value);
      }
      this.#addWords(heard, at, words);
      heard = [];
    }
    if (reference !== undefined) {
      this.#errors.push(wordErrors(reference, normalise(text.join(" "))));
    }
  }

  summary(): InterimSummary {
    const wrong = this.#errors.reduce(
      (sum, { substitutions, deletions, insertions }) =>
        sum + substitutions + deletions + insertions,
      0,
    );
    const said = this.#errors.reduce((sum, { reference_words }) => sum + reference_words, 0);
    return {
      finals: this.#finals.length,
      wait_p50: quantile(this.#waits, 0.5),
      wait_p95: quantile(this.#waits, 0.95),
      final_p50: quantile(this.#finals, 0.5),
      final_p95: quantile(this.#finals, 0.95),
      interim_p50: quantile(this.#interims, 0.5),
      interim_p95: quantile(this.#interims, 0.95),
      words: this.#words,
      stable: this.#stableAfter.length,
      changed: this.#changed,
      shown_changed: Math.round((1_000 * this.#shownChanges) / this.#words) / 1_000,
      stable_after_p50: quantile(this.#stableAfter, 0.5),
      wer: said === 0 ? undefined : Math.round((1_000 * wrong) / said) / 1_000,
      real_time_factor: Math.round((1_000 * this.#computeMs) / this.#audioMs) / 1_000,
    };
  }

  #addEnd(reading: LiveReading, at: number, { start, end }: Utterance): void {
    const voice = reading.voicedEnds.findLast((voiced) => voiced > start && voiced <= end);
    if (voice === undefined) return;
    this.#waits.push((end - voice) / SAMPLES_PER_MS);
    this.#finals.push(at - voice / SAMPLES_PER_MS);
  }

  #addWords(heard: readonly Heard[], finalAt: number, words: readonly Word[]): void {
    this.#words += words.length;
    for (const word of words) {
      const first = heard.find(({ hypothesis }) => hypothesis.words.some((w) => isSame(w, word)));
      this.#interims.push((first?.at ?? finalAt) - word.end / SAMPLES_PER_MS);
    }
    this.#shownChanges += words.filter((word, place) =>
      heard.some(({ hypothesis }) => {
        const shown = hypothesis.words[place];
        return shown !== undefined && plain(shown.text) !== plain(word.text);
      }),
    ).length;
    const stable: string[] = [];
    for (const { at, hypothesis } of heard) {
      for (const word of hypothesis.words.slice(stable.length, hypothesis.stableWords)) {
        this.#stableAfter.push(at - word.end / SAMPLES_PER_MS);
        stable.push(plain(word.text));
      }
    }
    // One word more or fewer changes none of those behind it.
    const final = words.map(({ text }) => plain(text));
    const { substitutions, deletions } = wordErrors(stable, final);
    this.#changed += substitutions + deletions;
  }
}

function isSame(one: Word, other: Word): boolean {
  return plain(one.text) === plain(other.text) && Math.abs(one.start - other.start) <= NEAR;
}

/** Without capitals and marks, which may change without anybody minding. */
function plain(text: string): string {
  return text.toLowerCase().replaceAll(/[^\p{L}\p{N}]/gu, "");
}

function quantile(values: readonly number[], share: number): number | undefined {
  const sorted = values.toSorted((a, b) => a - b);
  const value = sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))];
  return value === undefined ? undefined : Math.round(value);
}
