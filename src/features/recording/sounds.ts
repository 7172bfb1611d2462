import type { AudioFormatError } from "../../base/audio/wav.ts";
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
/** Most requests that wait; each holds a piece of a download or an upload. */
const MOST_WAITING = 256;

type Answered<K extends SoundAnswer["kind"]> = Extract<SoundAnswer, { kind: K }>;

/**
 * Measures, decodes and resamples stored sound in threads: what is uploaded in one, what people
 * listen to in another, so that a file that is slow to measure interrupts nobody who listens.
 * Rejects as `ThreadCalls` does.
 */
export class Sounds {
  readonly #measuring = soundThread("Reading the audio");
  readonly #playing = soundThread("Decoding sound");

  /** Finds out what a file holds and how long it lasts, without decoding it. */
  async measure(source: SoundSource): Promise<MeasuredSound | AudioFormatError> {
    const answer = await this.#measuring.call({ kind: "measure", source });
    return (answer as Answered<"measured">).sound;
  }

  /** Where further recordings begin in a file that was put together; see `recordingStarts`. */
  async starts(source: SoundSource): Promise<readonly number[]> {
    return ((await this.#measuring.call({ kind: "starts", source })) as Answered<"starts">).starts;
  }

  /** Decodes a whole file to WAV of its own rate and channels; undefined when it has no sound. */
  async wave(source: SoundSource): Promise<Uint8Array | undefined> {
    return ((await this.#playing.call({ kind: "wave", source })) as Answered<"wave">).bytes;
  }

  /**
   * Samples of a chunk at 16 kHz, mono, from `from` on, counted from its start; its neighbours
   * supply what the interpolation needs beyond its ends. A file that is not what its chunk says is
   * silence, and its sequence among `damaged`.
   */
  async samples(
    file: ThreadFile,
    from: number,
    count: number,
    neighbours: { before: ThreadFile | undefined; after: ThreadFile | undefined },
  ): Promise<{ samples: Int16Array; damaged: readonly number[] }> {
    const request = { kind: "samples" as const, file, from, count, ...neighbours };
    return (await this.#playing.call(request)) as Answered<"samples">;
  }

  /** Ends the threads; unfinished requests are rejected. */
  async stop(): Promise<void> {
    await Promise.all([this.#measuring.stop(), this.#playing.stop()]);
  }
}

function soundThread(what: string): ThreadCalls<SoundRequest, SoundAnswer> {
  return new ThreadCalls({ entry: ENTRY, what, longestMs: LONGEST_MS, mostWaiting: MOST_WAITING });
}
