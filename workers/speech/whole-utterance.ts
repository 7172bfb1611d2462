import { SESSION_RATE } from "../../src/base/audio/sample-rate.ts";
import { AppError, toAppError } from "../../src/base/errors.ts";
import { isEnglish } from "../../src/language/english.ts";
import { restoreText } from "../../src/language/restore-text.ts";
import { joined } from "./open-utterance.ts";
import type { Hypothesis, RecognisedWord, Recogniser } from "./recogniser.ts";

/** An utterance that has ended, with what tells its engine how to read it. */
export interface EndedUtterance {
  pcm: Int16Array;
  /** Its first sample. */
  start: number;
  language: string;
}

interface EngineRequest {
  words?: RecognisedWord[];
  error?: AppError;
  readonly abort: AbortController;
}

/** An engine that reads each utterance as a whole once it has ended, elsewhere; without hypotheses. */
export abstract class WholeUtteranceRecogniser implements Recogniser {
  abstract readonly engine: string;
  abstract readonly engineVersion: string;
  #language: string;
  #position = 0;
  #blocks: Int16Array[] = [];
  #request: EngineRequest | undefined;
  #onNews: (() => void) | undefined;

  constructor(language: string) {
    this.#language = language;
  }

  abstract useVocabulary(phrases: readonly string[]): void;

  /** Reads an utterance; given up when `signal` aborts. */
  protected abstract read(
    utterance: EndedUtterance,
    signal: AbortSignal,
  ): Promise<readonly RecognisedWord[]>;

  useLanguage(language: string): void {
    this.#language = language;
  }

  start(position: number): void {
    this.discard();
    this.#position = position;
  }

  feed(pcm: Int16Array): void {
    if (pcm.length > 0) this.#blocks.push(pcm);
  }

  hypothesis(): Hypothesis {
    return { words: [] };
  }

  truncate(samples: number): void {
    this.#blocks = [joined(this.#blocks).slice(0, samples)];
  }

  settle(): boolean {
    this.#request ??= this.#ask();
    return this.#request.words !== undefined || this.#request.error !== undefined;
  }

  onNews(listener: (() => void) | undefined): void {
    this.#onNews = listener;
  }

  finish(): RecognisedWord[] {
    const request = this.#request;
    this.#request = undefined;
    this.#blocks = [];
    if (request?.error !== undefined) throw request.error;
    if (request?.words === undefined) {
      throw new AppError("internal", "finish was called before settle");
    }
    return request.words;
  }

  discard(): void {
    this.#request?.abort.abort();
    this.#request = undefined;
    this.#blocks = [];
  }

  close(): void {
    this.discard();
  }

  #ask(): EngineRequest {
    const request: EngineRequest = { abort: new AbortController() };
    const language = this.#language;
    const utterance = { pcm: joined(this.#blocks), start: this.#position, language };
    const tell = (answer: Pick<EngineRequest, "words" | "error">): void => {
      Object.assign(request, answer);
      if (this.#request === request) this.#onNews?.();
    };
    this.read(utterance, request.abort.signal).then(
      (words) => tell({ words: writtenWords(words, language) }),
      (error: unknown) => tell({ error: toAppError(error) }),
    );
    return request;
  }
}

/**
 * The words of an utterance with capitals and sentence marks, so that every surface shows the same
 * text whatever model read it. Most models write them; where one wrote none, English gets them by
 * rule. Other languages stay as they were recognised.
 *
 * @param language of the utterance, a primary subtag
 */
export function writtenWords(words: readonly RecognisedWord[], language: string): RecognisedWord[] {
  const texts = words.map(({ text }) => text);
  if (!isEnglish(language) || texts.some(isMarked)) return [...words];
  const timed = words.map(({ text, start, end }) => ({
    text: text.toLowerCase(),
    start: start / SESSION_RATE,
    end: end / SESSION_RATE,
  }));
  const [written = []] = restoreText([{ speaker: "", words: timed }], []);
  return words.map((word, place) => ({ ...word, text: written[place] ?? word.text }));
}

/** A word that shows that its model tells large letters from small ones, or writes sentence marks. */
function isMarked(text: string): boolean {
  return /[.?!]$/u.test(text) || (/\p{Lu}/u.test(text) && /\p{Ll}/u.test(text));
}
