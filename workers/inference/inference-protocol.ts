import type { NetworkStatus } from "../../src/wire/worker-announcement.ts";
import type { HeardWord } from "./heard-words.ts";

/** What is asked of a piece of sound. Crosses threads. */
export type InferenceRequest = RecognitionRequest | VoiceRequest;

/** Asks for the words. */
export interface RecognitionRequest {
  kind: "read";
  /** 16 kHz mono. Handed over: whoever asks must not use it any more. */
  pcm: Int16Array;
  /** Of an utterance that is read again as it grows: memory of `FeatureBlocks`. */
  features?: SharedArrayBuffer | undefined;
  /** Somebody waits for it and it cannot be left out; interim readings can. */
  isFinal: boolean;
  /** First tokens that two readings agreed on: taken unless another one is far likelier. */
  agreed: readonly number[];
  /** Tokens that probably come next: a guess that is checked. */
  draft: readonly number[];
  /** Words and phrases that are put in where the sound bears them out; interim readings have none. */
  phrases: readonly string[];
}

/** Asks for the vector of a voice, or who speaks when: see `VoiceAnalysis`. */
export interface VoiceRequest {
  kind: "embed" | "segment";
  /** 16 kHz mono, handed over. */
  pcm: Int16Array;
  isFinal: true;
}

export type InferenceAnswer = RecognitionAnswer | VoiceAnswer;

export interface VoiceAnswer {
  numbers: Float32Array;
  /** Time in the networks, milliseconds. */
  workMs: number;
}

export interface RecognitionAnswer {
  words: HeardWord[];
  tokens: number[];
  /**
   * Geometric mean of the probabilities of the tokens that the network wrote by itself, before phrases
   * were put in; 1 without any.
   */
  certainty: number;
  /** True when the text would not end: it is in a loop. */
  isEndless: boolean;
  /** Time in the networks for it alone, milliseconds. */
  workMs: number;
}

/** From a reading thread to the pool, and from the pool to an inference thread. */
export type InferenceCall =
  | { kind: "run"; id: number; request: InferenceRequest; share?: string | undefined }
  | { kind: "drop"; id: number };

/** The other way. A dropped call has no answer. */
export type InferenceEvent =
  | { kind: "ready"; networks: NetworkStatus }
  | { kind: "broken"; reason: string }
  | { kind: "done"; id: number; answer: InferenceAnswer }
  | { kind: "left-out"; id: number }
  | { kind: "failed"; id: number; reason: string };
