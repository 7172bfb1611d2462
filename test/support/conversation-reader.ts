import { loadDecoders } from "../../src/base/codecs/sound-reader.ts";
import { AppError } from "../../src/base/errors.ts";
import type { Open, Opened } from "../../src/wire/gen/voice/v1/worker.ts";
import { knowsLanguage, MOONSHINE, type SpeechEngine } from "../../src/wire/speech-engines.ts";
import { Resampler } from "../../workers/audio/resampler.ts";
import { type AudioEvent, SessionAudio } from "../../workers/audio/session-audio.ts";
import type {
  Reader,
  ReaderFactory,
  ReaderStep,
  RequestMessage,
  ResponseMessage,
} from "../../workers/speech/reader.ts";
import { blockOf, SCRIPT, type ScriptedWord, WORDS_OF_BLOCKS } from "./spoken-script.ts";

/**
 * An engine that knows the sound of `scriptedPcm`, and nothing else. A word that begins as one of
 * the vocabulary does is "misheard" as that, so that a vocabulary changes what is read.
 */
export const SCRIPTED_ENGINE: SpeechEngine = {
  name: "scripted",
  languages: ["en"],
  streaming: true,
  wordTimes: true,
  punctuation: false,
  vocabulary: true,
  confidenceFloor: 0.5,
  local: true,
  model: { name: "script", sha256: { script: "0".repeat(64) } },
};
/** By the sign of the samples. */
const CONFIDENCE = { clear: 0.9, unclear: 0.3 };
/** After the last word of an utterance, samples. */
const PAUSE = 8_000;
/** By so many letters a word of the vocabulary sounds like one of the script. */
const ALIKE = 3;

interface Heard {
  readonly text: string;
  readonly start: number;
  readonly end: number;
  readonly confidence: number;
}

/**
 * Reads audio as the real reader does (decoding, gaps, broken chunks, checkpoints), but knows its words
 * by the values of the samples instead of recognising them: see `scriptedPcm`. Each turn of the
 * script is an utterance of one speaker.
 */
export class ConversationReader implements Reader {
  readonly opened: Opened = {
    engine: SCRIPTED_ENGINE.name,
    engineVersion: "1",
    diarisationModelVersion: "scripted",
    detectedLanguage: "en",
  };
  readonly engineMs = 0;
  readonly #audio: SessionAudio;
  readonly #wantsInterim: boolean;
  readonly #vocabulary: readonly string[];
  #position: number;
  #block: number | undefined;
  #turn: number | undefined;
  #words: Heard[] = [];
  #revision = 0;
  #isDone = false;

  constructor(open: Open) {
    const language = open.language || "en";
    if (!knowsLanguage(SCRIPTED_ENGINE, language)) {
      throw new AppError("bad_request", `The engine scripted does not know ${language}.`);
    }
    this.#position = open.checkpoint?.position ?? 0;
    this.#audio = new SessionAudio(this.#position);
    this.#wantsInterim = open.interimResults;
    this.#vocabulary = open.vocabulary;
  }

  enqueue(message: RequestMessage): void {
    if (message.$case === "chunk") this.#audio.pushChunk(message.value);
    else if (message.$case === "gap") this.#audio.pushGap(message.value);
    else if (message.$case !== "open") this.#audio.pushMark({ kind: message.$case });
  }

  queuedSamples(): number {
    return this.#audio.queuedSamples();
  }

  step(): ReaderStep {
    const event = this.#isDone ? undefined : this.#audio.next();
    if (event === undefined) {
      return { messages: this.#isDone ? [] : [this.#progress()], idle: true, done: this.#isDone };
    }
    return { messages: this.#take(event), idle: false, done: this.#isDone };
  }

  close(): void {
    this.#audio.close();
  }

  #take(event: AudioEvent): ResponseMessage[] {
    switch (event.kind) {
      case "samples":
        return this.#takeSamples(event.start, event.pcm);
      case "failed": {
        const { sequence, code, message } = event;
        return [{ $case: "chunkFailed", value: { sequence, code, message } }];
      }
      case "missing": {
        const messages = this.#endUtterance();
        this.#position = Math.max(this.#position, event.end);
        this.#block = undefined;
        return messages;
      }
      case "finalize":
        return this.#endUtterance();
      case "finish": {
        const messages = this.#endUtterance();
        this.#isDone = true;
        const finalisedTo = this.#position;
        return [...messages, { $case: "done", value: { finalisedTo, speakers: undefined } }];
      }
    }
  }

  #takeSamples(start: number, pcm: Int16Array): ResponseMessage[] {
    const messages: ResponseMessage[] = [];
    for (const [index, sample] of pcm.entries()) {
      const block = blockOf(sample);
      if (block === this.#block) continue;
      this.#block = block;
      const at = start + index;
      for (const word of block === undefined ? [] : (WORDS_OF_BLOCKS[block] ?? [])) {
        const confidence = CONFIDENCE[sample < 0 ? "unclear" : "clear"];
        messages.push(...this.#hear(word, at, confidence));
      }
    }
    this.#position = start + pcm.length;
    const last = this.#words.at(-1);
    if (last !== undefined && this.#position - last.end > PAUSE) {
      messages.push(...this.#endUtterance());
    } else if (last !== undefined && this.#wantsInterim) messages.push(this.#hypothesis());
    return messages;
  }

  #hear(
    { turn, text, start, end }: ScriptedWord,
    at: number,
    confidence: number,
  ): ResponseMessage[] {
    const isNew = turn !== this.#turn;
    const messages = isNew ? this.#endUtterance() : [];
    const from = Math.max(this.#words.at(-1)?.end ?? 0, at + start, 0);
    if (this.#words.length === 0) {
      messages.push({ $case: "speechStarted", value: { position: from } });
    }
    this.#turn = turn;
    const span = { start: from, end: Math.max(from + 1, at + end) };
    this.#words.push({ text: this.#known(text), ...span, confidence });
    return messages;
  }

  #known(text: string): string {
    const beginning = text.slice(0, ALIKE);
    const isAlike = (term: string) => term.slice(0, ALIKE).toLowerCase() === beginning;
    return (text.length > ALIKE && this.#vocabulary.find(isAlike)) || text;
  }

  #hypothesis(): ResponseMessage {
    this.#revision += 1;
    const words = this.#words.map((word) => ({ ...word, confidence: 0 }));
    return {
      $case: "hypothesis",
      value: {
        start: this.#words[0]?.start ?? this.#position,
        end: this.#position,
        revision: this.#revision,
        words,
        cluster: this.#speaker,
        stableWords: Math.max(0, words.length - 1),
      },
    };
  }

  get #speaker(): number {
    return SCRIPT.turns[this.#turn ?? -1]?.speaker ?? -1;
  }

  #endUtterance(): ResponseMessage[] {
    const [first, last] = [this.#words[0], this.#words.at(-1)];
    if (first === undefined || last === undefined) return [];
    const end = Math.max(this.#position, last.end);
    const floor = SCRIPTED_ENGINE.confidenceFloor ?? 0;
    const words = this.#words.map((word) =>
      word.confidence < floor ? { ...word, unclear: true } : word,
    );
    const { start } = first;
    const confidence = words.reduce((sum, word) => sum + word.confidence, 0) / words.length;
    const segment = {
      start,
      end: last.end,
      words,
      confidence,
      cluster: this.#speaker,
      overlaps: [],
    };
    const checkpoint = {
      position: this.#position,
      recogniser: Buffer.alloc(1),
      speakers: Buffer.alloc(0),
    };
    this.#words = [];
    this.#turn = undefined;
    this.#revision = 0;
    const value = { start, end, segments: [segment], checkpoint, speakers: undefined };
    return [{ $case: "utterance", value }];
  }

  #progress(): ResponseMessage {
    const finalisedTo = this.#words[0]?.start ?? this.#position;
    return { $case: "progress", value: { processedTo: this.#position, finalisedTo } };
  }
}

export const conversationReaders: ReaderFactory = {
  // The documents' examples name the default engine.
  engines: [SCRIPTED_ENGINE, { ...SCRIPTED_ENGINE, name: MOONSHINE.name }],
  open: async (open) => {
    await Promise.all([Resampler.load(), loadDecoders()]);
    return new ConversationReader(open);
  },
  close: async () => {},
};
