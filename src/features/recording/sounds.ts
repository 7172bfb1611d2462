import { Worker } from "node:worker_threads";
import type { AudioFormatError } from "../../base/audio/wav.ts";
import { createDeferred, type Deferred, withTimeout } from "../../base/deferred.ts";
import { AppError, isAppError } from "../../base/errors.ts";
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

type Asked<T> = T extends SoundRequest ? Omit<T, "id"> : never;
type Answered<K extends SoundAnswer["kind"]> = Extract<SoundAnswer, { kind: K }>;

/**
 * Measures, decodes and resamples stored sound in a thread. The thread starts with the first
 * request, and again after it ended. Rejects with `unavailable` when the thread ends or is too
 * slow, and with `overloaded` when too much waits for it.
 */
export class Sounds {
  readonly #pending = new Map<number, Deferred<SoundAnswer>>();
  #thread: Worker | undefined;
  #requests = 0;

  /** Finds out what a file holds and how long it lasts, without decoding it. */
  async measure(source: SoundSource): Promise<MeasuredSound | AudioFormatError> {
    const answer = await this.#ask<Answered<"measured">>({ kind: "measure", source });
    return answer.sound;
  }

  /** Decodes a whole file to WAV of its own rate and channels; undefined when it has no sound. */
  async wave(source: SoundSource): Promise<Uint8Array | undefined> {
    return (await this.#ask<Answered<"wave">>({ kind: "wave", source })).bytes;
  }

  /**
   * Samples of a chunk at 16 kHz, mono, from `from` on, counted from its start; its neighbours
   * supply what the interpolation needs beyond its ends.
   */
  async samples(
    file: ThreadFile,
    from: number,
    count: number,
    neighbours: { before: ThreadFile | undefined; after: ThreadFile | undefined },
  ): Promise<Int16Array> {
    const request = { kind: "samples" as const, file, from, count, ...neighbours };
    return (await this.#ask<Answered<"samples">>(request)).samples;
  }

  /** Ends the thread; unfinished requests are rejected. */
  async stop(): Promise<void> {
    await this.#thread?.terminate();
  }

  async #ask<A extends SoundAnswer>(request: Asked<SoundRequest>): Promise<A> {
    if (this.#pending.size >= MOST_WAITING) {
      throw new AppError("overloaded", "Too much sound is being decoded just now. Please retry.", {
        retryAfter: 2,
      });
    }
    const thread = this.#running();
    this.#requests += 1;
    const id = this.#requests;
    const deferred = createDeferred<SoundAnswer>();
    this.#pending.set(id, deferred);
    try {
      thread.postMessage({ ...request, id });
      const answer = await withTimeout(deferred.promise, LONGEST_MS, "Decoding sound");
      if (answer.kind !== "failed") return answer as A;
      throw new AppError("internal", `Sound cannot be read: ${answer.message}`);
    } catch (error) {
      if (isAppError(error, "timeout")) await thread.terminate();
      throw error;
    } finally {
      this.#pending.delete(id);
    }
  }

  #running(): Worker {
    if (this.#thread !== undefined) return this.#thread;
    const thread = new Worker(ENTRY, { execArgv: ["--disable-warning=ExperimentalWarning"] });
    this.#thread = thread;
    // The thread does not keep the process running.
    thread.unref();
    thread.on("message", (answer: SoundAnswer) => this.#pending.get(answer.id)?.resolve(answer));
    thread.on("error", (error) => this.#ended(thread, error));
    thread.on("exit", () => this.#ended(thread, undefined));
    return thread;
  }

  #ended(thread: Worker, cause: Error | undefined): void {
    if (this.#thread !== thread) return;
    this.#thread = undefined;
    const reason = new AppError("unavailable", "Sound cannot be read just now. Please retry.", {
      cause,
      retryAfter: 1,
    });
    for (const { reject } of this.#pending.values()) reject(reason);
  }
}
