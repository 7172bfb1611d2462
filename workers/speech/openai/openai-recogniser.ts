import { AppError, toAppError } from "../../../src/base/errors.ts";
import type { SpeechEngine } from "../../../src/wire/speech-engines.ts";
import type { OpenAiSettings } from "../engine-schemas.ts";
import { joined } from "../open-utterance.ts";
import type { Hypothesis, RecognisedWord, Recogniser } from "../recogniser.ts";
import { writtenWords } from "../written-words.ts";
import type { TranscriptionClient } from "./transcription-client.ts";

/** Longest tail of the text before, and longest list of names, in a prompt; characters. */
const TAIL = 200;
const NAMES = 400;

interface Asked {
  words?: RecognisedWord[];
  error?: AppError;
  readonly abort: AbortController;
}

/** What an engine of this kind is, by its settings. */
export function describeOpenAi(settings: OpenAiSettings): SpeechEngine {
  const [first, ...others] = settings.languages;
  const floor = settings.confidence_floor;
  return {
    name: settings.name,
    languages: [first ?? "en", ...others],
    streaming: false,
    // Servers that tell no times are found out with the first request; the best is announced.
    wordTimes: true,
    punctuation: true,
    vocabulary: true,
    local: settings.local === true,
    model: { name: settings.model },
    ...(floor === undefined ? {} : { confidenceFloor: floor }),
    ...(settings.cost_per_hour === undefined ? {} : { costPerHour: settings.cost_per_hour }),
  };
}

/**
 * An engine behind an OpenAI-compatible server: an utterance is sent when it has ended, with the end
 * of the text before it. There are no hypotheses. What a session said last is kept in memory only,
 * so that its words stand in no checkpoint; a reading that goes on elsewhere begins without it.
 */
export class OpenAiRecogniser implements Recogniser {
  readonly engine: string;
  readonly engineVersion: string;
  readonly confidenceFloor?: number;
  readonly #client: TranscriptionClient;
  #language = "en";
  #names = "";
  #tail = "";
  #position = 0;
  #blocks: Int16Array[] = [];
  #request: Asked | undefined;
  #onNews: (() => void) | undefined;

  constructor(settings: OpenAiSettings, client: TranscriptionClient) {
    this.#client = client;
    this.engine = settings.name;
    this.engineVersion = settings.model;
    if (settings.confidence_floor !== undefined) this.confidenceFloor = settings.confidence_floor;
  }

  useLanguage(language: string): void {
    this.#language = language;
  }

  useVocabulary(phrases: readonly string[]): void {
    let names = "";
    for (const phrase of phrases) {
      const longer = names === "" ? phrase : `${names}, ${phrase}`;
      if (longer.length > NAMES) break;
      names = longer;
    }
    this.#names = names;
  }

  start(position: number): void {
    this.discard();
    this.#position = position;
  }

  feed(pcm: Int16Array): void {
    if (pcm.length > 0) this.#blocks.push(pcm);
  }

  /** The server is asked when the utterance has ended. */
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
    const words = request?.words;
    if (words === undefined) throw new AppError("internal", "finish was called before settle");
    const text = words.map((word) => word.text).join(" ");
    if (text !== "") this.#tail = endOf(`${this.#tail} ${text}`.trim());
    return words;
  }

  discard(): void {
    this.#request?.abort.abort();
    this.#request = undefined;
    this.#blocks = [];
  }

  close(): void {
    this.discard();
  }

  #ask(): Asked {
    const request: Asked = { abort: new AbortController() };
    const pcm = joined(this.#blocks);
    const prompt = [this.#names, this.#tail].filter((each) => each !== "").join(". ");
    const utterance = { pcm, start: this.#position, language: this.#language, prompt };
    const tell = (answer: Pick<Asked, "words" | "error">): void => {
      Object.assign(request, answer);
      if (this.#request === request) this.#onNews?.();
    };
    this.#client.transcribe(utterance, request.abort.signal).then(
      (words) => tell({ words: writtenWords(words, utterance.language) }),
      (error: unknown) => tell({ error: toAppError(error) }),
    );
    return request;
  }
}

/** The end of the text, from a word's beginning. */
function endOf(text: string): string {
  if (text.length <= TAIL) return text;
  const end = text.slice(-TAIL);
  return end.slice(end.indexOf(" ") + 1);
}
