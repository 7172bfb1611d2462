import { OPUS_PRE_ROLL } from "../../src/base/audio/opus-packets.ts";
import { SESSION_RATE } from "../../src/base/audio/sample-rate.ts";
import { AppError, toAppError } from "../../src/base/errors.ts";
import type { AudioChunk, Gap } from "../../src/wire/gen/voice/v1/worker.ts";
import { type ChunkDecoder, openChunk } from "./decode.ts";
import { type OpusCodec, OpusStream } from "./opus-codec.ts";
import { ResamplingRun, type RunPhase } from "./resampling-run.ts";

/**
 * The next event on the session's timeline. Positions are samples at 16 kHz; `pcm` has the samples
 * of all channels, interleaved.
 */
export type AudioEvent =
  | { kind: "samples"; start: number; pcm: Int16Array }
  | { kind: "missing"; end: number; isGap?: true }
  | { kind: "failed"; sequence: number; code: string; message: string }
  | { kind: "finalize"; unlessSpeaking?: boolean | undefined }
  | { kind: "finish" };

/** Most audio of one event: 100 ms. */
const EVENT_SAMPLES = SESSION_RATE / 10;
/** Tolerance for rounding between the declared length of a chunk and its samples. */
const ROUNDING_SAMPLES = 2;
/** Phases of a checkpoint: enough for chunks of 5 ms. */
const MOST_PHASES = 64;

type Item = { kind: "chunk"; chunk: AudioChunk } | Exclude<AudioEvent, { kind: "samples" }>;

/**
 * Turns the chunks of a session into one stream of 16 kHz samples, decoding 100 ms at a time.
 *
 * A sample's position and value depend only on the audio, not on how it was cut into chunks: the
 * resampler continues across chunk boundaries while rate and positions continue. Missing audio
 * becomes a `missing` event; unreadable audio a `failed` and then a `missing` event.
 */
export class SessionAudio {
  readonly #queue: Item[] = [];
  readonly #phases: RunPhase[];
  readonly #opus: OpusStream | undefined;
  readonly #channels: number;
  #position: number;
  #queuedEnd: number;
  /** Sequence of the chunk that is being read, whole or in fragments. */
  #sequence: number | undefined;
  #open: { chunk: AudioChunk; decoder: ChunkDecoder } | undefined;
  #run: ResamplingRun | undefined;

  /**
   * Starts at `position`; `phases` come from the checkpoint of that position. Opus can be read only
   * with its codec. With one channel, those of the audio are mixed.
   */
  constructor(position: number, phases: readonly RunPhase[] = [], codec?: OpusCodec, channels = 1) {
    this.#channels = channels;
    this.#opus = codec && new OpusStream(codec);
    this.#position = position;
    this.#queuedEnd = position;
    this.#phases = [...phases];
  }

  /** Adds a chunk, or the next fragment of one: fragments share its sequence and follow one another. */
  pushChunk(chunk: AudioChunk): void {
    this.#queue.push({ kind: "chunk", chunk });
    this.#queuedEnd = Math.max(this.#queuedEnd, chunk.start + chunk.length);
  }

  pushGap(gap: Gap): void {
    this.#queue.push({ kind: "missing", end: gap.start + gap.length, isGap: true });
    this.#queuedEnd = Math.max(this.#queuedEnd, gap.start + gap.length);
  }

  /** Adds what is to be done behind the audio so far. */
  pushMark(mark: Extract<AudioEvent, { kind: "finalize" | "finish" }>): void {
    this.#queue.push(mark);
  }

  /** Number of samples that were added and not returned yet. */
  queuedSamples(): number {
    return Math.max(0, this.#queuedEnd - this.#position);
  }

  /**
   * States of the resampling runs around `position`, to be stored in a checkpoint: of the chunk at the
   * position and of those before it with which a resumed reading begins.
   */
  phasesAt(position: number): RunPhase[] {
    const later = this.#phases.findIndex((phase) => phase.start > position);
    const end = later < 0 ? this.#phases.length : later;
    const needed = (this.#phases[end - 1]?.start ?? 0) - OPUS_PRE_ROLL;
    const first = this.#phases.findLastIndex(({ start }, at) => at < end - 1 && start <= needed);
    this.#phases.splice(0, Math.max(0, first, end - MOST_PHASES));
    return this.#phases.slice(0, MOST_PHASES).filter((phase) => phase.start <= position);
  }

  /**
   * Returns the next event, after processing at most 100 ms of audio; undefined when more input is
   * needed. The samples may be empty: then audio before the starting position was processed.
   */
  next(): AudioEvent | undefined {
    for (;;) {
      const samples = this.#takeSamples();
      if (samples !== undefined) return samples;
      if (this.#open !== undefined) {
        const event = this.#decode(this.#open.chunk, this.#open.decoder);
        if (event !== "opened") return event;
        continue;
      }
      const event = this.#nextItem();
      if (event !== "opened") return event;
    }
  }

  close(): void {
    this.#run?.close();
    this.#run = undefined;
    this.#open?.decoder.close?.();
    this.#open = undefined;
    this.#queue.length = 0;
  }

  #takeSamples(): AudioEvent | undefined {
    const taken = this.#run?.take(this.#position, EVENT_SAMPLES);
    if (taken === undefined || taken.length === 0) return undefined;
    const start = this.#position;
    this.#position += taken.length / this.#channels;
    return { kind: "samples", start, pcm: taken };
  }

  #decode(chunk: AudioChunk, decoder: ChunkDecoder): AudioEvent | "opened" {
    const frames = decoder.read(Math.ceil(decoder.sampleRate / 10));
    if (frames.length > 0) {
      this.#run?.push(frames);
      const nothing = { kind: "samples", start: this.#position, pcm: new Int16Array(0) } as const;
      return this.#takeSamples() ?? nothing;
    }
    this.#open = undefined;
    decoder.close?.();
    if (decoder.isBroken) return brokenChunk(chunk);
    const end = chunk.start + chunk.length;
    const held = this.#run?.heldSamples() ?? 0;
    // The chunk has fewer samples than declared, beyond rounding and what the resampler still
    // holds.
    if ((this.#run?.end() ?? end) + held + ROUNDING_SAMPLES >= end) return "opened";
    return this.#jump({ kind: "missing", end }) ?? "opened";
  }

  #nextItem(): AudioEvent | "opened" | undefined {
    const item = this.#queue.shift();
    if (item === undefined) return undefined;
    if (item.kind === "chunk") return this.#openNext(item.chunk);
    if (item.kind === "missing") return this.#afterRun(item) ?? this.#jump(item) ?? "opened";
    return item.kind === "finish" ? (this.#afterRun(item) ?? item) : item;
  }

  /**
   * Ends the run. The samples it still holds are returned first, then `item` is processed again.
   */
  #afterRun(item: Item): "opened" | undefined {
    if (this.#run?.finish() !== true) return undefined;
    this.#queue.unshift(item);
    return "opened";
  }

  #openNext(chunk: AudioChunk): AudioEvent | "opened" {
    const end = chunk.start + chunk.length;
    if (chunk.start > this.#position + ROUNDING_SAMPLES && !this.#continues(chunk)) {
      const hole: Item = { kind: "missing", end: chunk.start };
      this.#queue.unshift(hole, { kind: "chunk", chunk });
      return "opened";
    }
    try {
      const decoder = openChunk(chunk.mediaType, chunk.data, this.#opus, this.#channels);
      if (this.#continues(chunk, decoder.sampleRate)) return this.#begin(chunk, decoder);
      const waiting = this.#afterRun({ kind: "chunk", chunk });
      if (waiting === undefined) return this.#begin(chunk, decoder);
      decoder.close?.();
      return waiting;
    } catch (error) {
      this.#queue.unshift({ kind: "missing", end });
      const { code, message } = error instanceof AppError ? error : toAppError(error);
      return { kind: "failed", sequence: chunk.sequence, code, message };
    }
  }

  #continues(chunk: AudioChunk, rate = this.#run?.rate): boolean {
    if (this.#run === undefined || this.#run.rate !== rate) return false;
    return Math.abs(this.#run.inputEnd() - chunk.start) < ROUNDING_SAMPLES;
  }

  #begin(chunk: AudioChunk, decoder: ChunkDecoder): "opened" {
    const continues = this.#continues(chunk, decoder.sampleRate);
    const isFurtherFragment = continues && chunk.sequence === this.#sequence;
    this.#sequence = chunk.sequence;
    this.#opus?.follow(chunk.sequence, continues);
    if (!continues) {
      this.#run?.close();
      const known = this.#phases.find(
        (phase) => phase.start === chunk.start && phase.rate === decoder.sampleRate,
      );
      this.#run = new ResamplingRun(
        known ?? { start: chunk.start, base: chunk.start, frames: 0, rate: decoder.sampleRate },
        this.#channels,
      );
    }
    const run = this.#run;
    if (run !== undefined) {
      if (!isFurtherFragment) this.#keepPhase(run.phaseAt(chunk.start));
      run.limit(chunk.start + chunk.length);
    }
    this.#open = { chunk, decoder };
    return "opened";
  }

  // Called at the start of each chunk, because that is where a resumed reading starts.
  #keepPhase(phase: RunPhase): void {
    const latest = this.#phases.at(-1)?.start ?? -1;
    if (phase.rate !== SESSION_RATE && latest < phase.start) this.#phases.push(phase);
  }

  #jump(missing: Extract<AudioEvent, { kind: "missing" }>): AudioEvent | undefined {
    this.#run?.close();
    this.#run = undefined;
    if (missing.end <= this.#position) return undefined;
    this.#position = missing.end;
    return missing;
  }
}

function brokenChunk({ sequence }: AudioChunk): AudioEvent {
  const message = "Less than half of the file could be decoded.";
  return { kind: "failed", sequence, code: "not_audio", message };
}
