import { SESSION_RATE } from "../../src/base/audio/sample-rate.ts";
import type { SpeakerUpdate, Word } from "../../src/wire/gen/voice/v1/worker.ts";
import type { VoiceLikeness } from "../audio/voice-likeness.ts";
import type { SpeakerProposal } from "../speakers/speaker-tracker.ts";
import type { RecognisedWord, Recogniser } from "./recogniser.ts";
import { isLikelySpeech } from "./speech-likeness.ts";

/** An utterance that is being read. */
export interface OpenUtterance {
  start: number;
  /** The recogniser's state before the utterance. */
  before: Uint8Array;
  revision: number;
  shown: string;
  /** Its blocks so far, while the channel is still being estimated from them. */
  blocks: Int16Array[] | undefined;
  /** Number of samples in `blocks`. */
  heard: number;
  estimatedAt: number;
  likeness: VoiceLikeness;
  ending: boolean;
  /** True when the client ended it, which a second reading would not repeat. */
  cut: boolean;
}

/**
 * Lengths of the first utterance at which the channel is estimated, in samples; after the last one
 * no more.
 */
const FIRST_ESTIMATE = SESSION_RATE;
export const LAST_ESTIMATE = 3 * SESSION_RATE;

export function isEstimateDue({ heard, estimatedAt }: OpenUtterance): boolean {
  return heard >= (estimatedAt === 0 ? FIRST_ESTIMATE : LAST_ESTIMATE);
}

/** Of a pause so many frames are read at once, the rest only if speech goes on. */
const READ_PAUSE_FRAMES = 10;

/**
 * How many frames of a pause wait. The channel is estimated from all of it, and an engine that tells
 * words from noise is given all of it.
 */
export function unreadFrames({ blocks }: OpenUtterance, pause: number, engine: Recogniser): number {
  if (blocks !== undefined || engine.knowsNoise) return 0;
  return Math.max(0, pause - READ_PAUSE_FRAMES);
}

/** An estimate of the channel is used until this share of new audio has come, plus more at an end. */
const NEW_SHARE = 0.25;

/** True when the channel was estimated from nearly all of the utterance. */
export function isFresh({ heard, estimatedAt }: OpenUtterance, more: number): boolean {
  return estimatedAt > 0 && heard - estimatedAt <= NEW_SHARE * estimatedAt + more;
}

/** The proposal as a message; undefined when it is empty. */
export function toUpdate(proposal: SpeakerProposal, finalPass: boolean): SpeakerUpdate | undefined {
  const { segments, merges } = proposal;
  if (!finalPass && segments.length === 0 && merges.length === 0) return undefined;
  return { segments, merges, finalPass };
}

/** Ends the utterance: its words, none where it was no speech. */
export function wordsSaid(recogniser: Recogniser, utterance: OpenUtterance, end: number): Word[] {
  const { confidenceFloor, knowsNoise } = recogniser;
  const kind = knowsNoise ? "voice" : utterance.likeness.kind;
  // The engine has learnt no whispering, so what it hears there is hardly ever sure.
  const floor = kind === "whisper" ? Number.POSITIVE_INFINITY : confidenceFloor;
  const words = withUnclear(recogniser.finish(), floor);
  const isSpeech = knowsNoise || (kind !== "none" && isLikelySpeech(words, utterance.start, end));
  return isSpeech ? words : [];
}

/** Marks words whose confidence is below the engine's floor. */
function withUnclear(words: readonly RecognisedWord[], floor: number | undefined): Word[] {
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

export function joined(frames: readonly Int16Array[]): Int16Array {
  const whole = new Int16Array(frames.reduce((total, frame) => total + frame.length, 0));
  let at = 0;
  for (const frame of frames) {
    whole.set(frame, at);
    at += frame.length;
  }
  return whole;
}
