import type { SpeakerUpdate, Utterance, Word } from "../../src/wire/gen/voice/v1/worker.ts";
import type { SpeechActivity } from "../audio/speech-activity.ts";
import type { SpeakerProposal, SpeakerTracker } from "../speakers/speaker-tracker.ts";
import type { PauseState } from "./endpointer.ts";
import type { RecognisedWord, Recogniser } from "./recogniser.ts";

/** What an UtteranceReader is made with. */
export interface UtteranceReaderOptions {
  position: number;
  recogniser: Recogniser;
  activity: Pick<SpeechActivity, "take" | "pass" | "skip" | "state">;
  tracker: SpeakerTracker;
  interimResults: boolean;
  /** What an earlier reading learnt of the pauses. */
  pauses: PauseState | undefined;
  /** True while so much audio waits that hypotheses are skipped. */
  isPressed: () => boolean;
  /** False to make a checkpoint with every final. */
  sparseCheckpoints: boolean;
  /**
   * Returns the state at `position`, the end of an utterance, for its checkpoint; `activity` is that
   * of the voice activity there. Absent for the reader of one of several channels, which makes no
   * checkpoints.
   */
  checkpointAt?: (position: number, activity: Uint8Array) => NonNullable<Utterance["checkpoint"]>;
}

/** 32 ms of sound and what was found in it. */
export interface AnalysedFrame {
  pcm: Int16Array;
  /** That it holds speech, 0..1. */
  probability: number;
  /** Mean square of its samples. */
  level: number;
  /** State of the voice activity behind it. */
  state: Uint8Array;
}

/** An utterance that is being read. */
export interface OpenUtterance {
  start: number;
  revision: number;
  shown: string;
  /** Set when it has ended: the state of the voice activity there. */
  ending?: Uint8Array;
  /** True when the client ended it, which a second reading would not repeat. */
  cut: boolean;
}

/** The proposal as a message; undefined when it is empty. */
export function toUpdate(proposal: SpeakerProposal, finalPass: boolean): SpeakerUpdate | undefined {
  const { segments, merges } = proposal;
  if (!finalPass && segments.length === 0 && merges.length === 0) return undefined;
  return { segments, merges, finalPass };
}

/** Marks words whose confidence is below the engine's floor. */
export function withUnclear(words: readonly RecognisedWord[], floor: number | undefined): Word[] {
  return words.map((word) =>
    floor !== undefined && word.confidence < floor ? { ...word, unclear: true } : word,
  );
}

export function crosses(interval: number, before: number, after: number): boolean {
  return Math.floor(before / interval) !== Math.floor(after / interval);
}

export function meanSquare(frame: Int16Array): number {
  let sum = 0;
  for (const sample of frame) sum += sample * sample;
  return sum / frame.length;
}

/** Of all frames together, in samples. */
export function lengthOf(frames: readonly AnalysedFrame[]): number {
  return frames.reduce((total, { pcm }) => total + pcm.length, 0);
}

export function joined(frames: readonly Int16Array[]): Int16Array<ArrayBuffer> {
  const whole = new Int16Array(frames.reduce((total, frame) => total + frame.length, 0));
  let at = 0;
  for (const frame of frames) {
    whole.set(frame, at);
    at += frame.length;
  }
  return whole;
}
