import type { AudioChunk, Word } from "../../src/wire/gen/voice/v1/worker.ts";
import { type RunningEngine, startMoonshine } from "../support/moonshine-engine.ts";
import { chunkMessages, readSession, utterancesOf } from "../support/read-session.ts";
import { normaliseWords } from "./normalise-words.ts";
import { alignWords } from "./word-error-rate.ts";

/** A recognised word and whether it was said. */
export interface JudgedWord {
  confidence: number;
  isRight: boolean;
}

/** Reads audio as a worker does, with the service's own engine. */
export class WordReader {
  readonly #engine: RunningEngine;

  static async start(): Promise<WordReader> {
    return new WordReader(await startMoonshine());
  }

  private constructor(engine: RunningEngine) {
    this.#engine = engine;
  }

  /** The words of all finals. */
  async read(chunks: readonly AudioChunk[]): Promise<Word[]> {
    const messages = await readSession(this.#engine, chunkMessages(chunks));
    return utterancesOf(messages).flatMap(({ segments }) =>
      segments.flatMap((segment) => segment.words),
    );
  }

  close(): void {
    this.#engine.close();
  }
}

/** Each word with whether it was said, by alignment after the same normalisation of both. */
export function judgeWords<W extends { text: string }>(
  reference: readonly string[],
  words: readonly W[],
): (W & { isRight: boolean })[] {
  const parts = words.flatMap(({ text }, place) =>
    normaliseWords(text).map((part) => ({ part, place })),
  );
  const aligned = alignWords(
    reference,
    parts.map(({ part }) => part),
  );
  const wrong = new Set(
    aligned.flatMap((each) =>
      each.kind === "substitution" || each.kind === "insertion"
        ? [parts[each.hypothesis]?.place]
        : [],
    ),
  );
  return words.map((word, place) => ({ ...word, isRight: !wrong.has(place) }));
}
