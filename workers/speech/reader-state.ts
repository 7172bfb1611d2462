import { AppError } from "../../src/base/errors.ts";
import type { RunPhase } from "../audio/resampling-run.ts";
import type { PauseState } from "./endpointer.ts";

/** Version 1 held the state of an engine that is gone: what it read is read again from its sound. */
const VERSION = 2;

/** State of a reading that is kept at an utterance's end, without the speakers. */
export interface ReaderState {
  activity: Uint8Array;
  /** States of the resampling runs around the position; empty at 16 kHz. */
  phases: RunPhase[];
  pauses: PauseState;
}

/** Encodes the state for `Checkpoint.recogniser`: JSON, about 2 kB. */
export function encodeReaderState(state: ReaderState): Buffer {
  return Buffer.from(
    JSON.stringify({
      version: VERSION,
      activity: Buffer.from(state.activity).toString("base64"),
      phases: state.phases,
      pauses: state.pauses,
    }),
  );
}

/** What is kept of a channel that is a speaker, between utterances. */
export interface ChannelState {
  activity: Uint8Array;
  pauses: PauseState;
}

/** State of a reading whose channels are speakers. */
export interface ChannelsState {
  channels: ChannelState[];
  phases: RunPhase[];
}

/** Encodes the state for `Checkpoint.recogniser`: JSON, about 2 kB for each channel. */
export function encodeChannelsState({ channels, phases }: ChannelsState): Buffer {
  const states = channels.map(({ activity, pauses }) => ({
    activity: Buffer.from(activity).toString("base64"),
    pauses,
  }));
  return Buffer.from(JSON.stringify({ version: VERSION, channels: states, phases }));
}

/** Decodes the output of `encodeChannelsState`. Throws AppError `bad_request` for other bytes. */
export function decodeChannelsState(bytes: Uint8Array): ChannelsState {
  const { version, channels, phases } = parse(bytes);
  const isKnown = version === VERSION && Array.isArray(channels) && channels.every(isRecord);
  if (!isKnown || !Array.isArray(phases) || !phases.every(isPhase)) throw refused();
  return {
    phases,
    channels: channels.map(({ activity, pauses }) => {
      if (!isPauseState(pauses)) throw refused();
      return { activity: binary(activity), pauses };
    }),
  };
}

/** Decodes the output of `encodeReaderState`. Throws AppError `bad_request` for other bytes. */
export function decodeReaderState(bytes: Uint8Array): ReaderState {
  const value = parse(bytes);
  const phases = value.phases;
  if (value.version !== VERSION || !Array.isArray(phases) || !phases.every(isPhase)) {
    throw refused();
  }
  const { pauses } = value;
  if (!isPauseState(pauses)) throw refused();
  return { activity: binary(value.activity), phases, pauses };
}

function parse(bytes: Uint8Array): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(Buffer.from(bytes).toString("utf8"));
    if (isRecord(value)) return value;
  } catch (cause) {
    throw refused(cause);
  }
  throw refused();
}

function binary(value: unknown): Uint8Array {
  if (typeof value !== "string") throw refused();
  return Buffer.from(value, "base64");
}

function isPhase(value: unknown): value is RunPhase {
  return hasIntegers(value, ["start", "base", "frames", "rate"]);
}

function isPauseState(value: unknown): value is PauseState {
  return hasIntegers(value, ["wait", "gap"]);
}

function hasIntegers(value: unknown, names: readonly string[]): boolean {
  return isRecord(value) && names.every((name) => Number.isSafeInteger(value[name]));
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null;
}

function refused(cause?: unknown): AppError {
  return new AppError("bad_request", "The checkpoint is none of this worker's.", { cause });
}
