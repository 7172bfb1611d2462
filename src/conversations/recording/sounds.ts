import type { AudioFormatError } from "../../base/audio/wav.ts";
import type { QueueFigures, QueueOwner } from "../../base/queue-metrics.ts";
import { ThreadCalls } from "../../base/threads/thread-calls.ts";
import type {
  MeasuredSound,
  SoundAnswer,
  SoundRequest,
  SoundSource,
  ThreadFile,
} from "./sound-thread.ts";

const ENTRY = new URL("./sound-thread.ts", import.meta.url);
/** 15 minutes of sound take seconds; a thread that takes longer is replaced. */
const LONGEST_MS = 60_000;
/** Requests that wait: each is a part of a download or an upload. */
const WAITING = { capacity: 256, share: 128 };
/** Of each kind: while one tenant has a file that is slow, another is free for the others. */
const THREADS = 2;

type Answered<K extends SoundAnswer["kind"]> = Extract<SoundAnswer, { kind: K }>;

/**
 * Measures, decodes and resamples stored sound in threads: what is uploaded in one, what people
 * listen to in others, so that a file that is slow to measure interrupts nobody who listens. `tenant`:
 * for whom it is done; each has one of these threads at a time.
 * Rejects as `ThreadCalls` does.
 */
export class Sounds implements QueueOwner {
  readonly #measuring = soundThreads("sound_measures", "Reading the audio");
  readonly #playing = soundThreads("sound_pieces", "Decoding sound");

  get queues(): readonly QueueFigures[] {
    return [...this.#measuring.queues, ...this.#playing.queues];
  }

  /** Finds out what a file holds and how long it lasts, without decoding it; `signal` ends that. */
  async measure(
    tenant: string,
    source: SoundSource,
    signal?: AbortSignal,
  ): Promise<MeasuredSound | AudioFormatError> {
    const request = { kind: "measure" as const, source };
    const answer = await this.#measuring.call(tenant, () => request, signal);
    return (answer as Answered<"measured">).sound;
  }

  /**
   * Where further recordings begin in a file that was put together; see `recordingStarts`. `signal`
   * ends that.
   */
  async starts(
    tenant: string,
    source: SoundSource,
    signal?: AbortSignal,
  ): Promise<readonly number[]> {
    const request = { kind: "starts" as const, source };
    const answer = await this.#measuring.call(tenant, () => request, signal);
    return (answer as Answered<"starts">).starts;
  }

  /** Decodes a whole file to WAV of its own rate and channels; undefined when it has no sound. */
  async wave(tenant: string, source: SoundSource): Promise<Uint8Array | undefined> {
    const answer = await this.#playing.call(tenant, () => ({ kind: "wave", source }));
    return (answer as Answered<"wave">).bytes;
  }

  /**
   * Samples of a chunk at 16 kHz, mono, from `from` on, counted from its start; its neighbours
   * supply what the interpolation needs beyond its ends. A file that is not what its chunk says is
   * silence, and its sequence among `damaged`.
   */
  async samples(
    tenant: string,
    file: ThreadFile,
    from: number,
    count: number,
    neighbours: { before: ThreadFile | undefined; after: ThreadFile | undefined },
  ): Promise<{ samples: Int16Array; damaged: readonly number[] }> {
    const request = { kind: "samples" as const, file, from, count, ...neighbours };
    return (await this.#playing.call(tenant, () => request)) as Answered<"samples">;
  }

  /** Ends the threads; unfinished requests are rejected. */
  async stop(): Promise<void> {
    await Promise.all([this.#measuring.stop(), this.#playing.stop()]);
  }
}

function soundThreads(queue: string, what: string): ThreadCalls<SoundRequest, SoundAnswer> {
  const limits = { threads: THREADS, longestMs: LONGEST_MS, waiting: WAITING };
  return new ThreadCalls({ entry: ENTRY, queue, what, ...limits });
}
