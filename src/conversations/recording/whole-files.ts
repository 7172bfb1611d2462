import { mkdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { Worker } from "node:worker_threads";
import { ConcurrencyLimit } from "../../base/concurrency-limit.ts";
import { createDeferred, withTimeout } from "../../base/deferred.ts";
import { AppError, systemFault } from "../../base/errors.ts";
import { newId } from "../../base/ids.ts";
import type { QueueFigures, QueueOwner } from "../../base/queue-metrics.ts";
import type { Upload } from "../../rest/route.ts";
import { cutToName } from "../../wire/names.ts";
import type { NewChunk } from "./chunk-store.ts";
import type { CutAnswer, CutOrder, CutPart } from "./cut-thread.ts";
import { type ReadableUpload, readableUpload, refusalByHead } from "./readable-upload.ts";
import { MAX_SECONDS, saveChunk, type UploadAudioOptions } from "./upload.ts";

const ENTRY = new URL("./cut-thread.ts", import.meta.url);
/** Each part of a long recording, seconds: its recognition begins while the next one is cut. */
const PART_SECONDS = 600;
/** Most bytes of one chunk: a worker takes it as one message. */
const MOST_CHUNK_BYTES = 64 * 1024 * 1024;
/** Most recordings that are cut at the same time; each takes a thread, and a compressed one its bytes (`MOST_READ_BYTES`). */
const MOST_CUTS = 4;
/** Of them, of one account. */
const CUTS_OF_ONE = 2;
/** Longest recording, hours: a few MiB may say that they hold weeks. */
const LONGEST_HOURS = 12;
/** Ten minutes are decoded in some seconds. */
const CUT_MS = 120_000;
const MAX_FILENAME = 255;

interface WholeFilesOptions
  extends Pick<
    UploadAudioOptions,
    "chunks" | "blobs" | "sounds" | "converter" | "notifier" | "mending" | "backlog"
  > {
  /** Folder of unfinished files, on the file system of the stored audio. */
  folder: string;
  /**
   * Asked before each part of decoded sound is written, as a few bytes may hold hours. Throws
   * `quota_exceeded` and `storage_full`.
   */
  assertRoom(sessionId: string): Promise<void>;
  /** Longer recordings are cut, seconds; 900 by default. */
  maxSeconds?: number;
  /** Length of each part of those, seconds; 600 by default. */
  partSeconds?: number;
  /** Larger ones are cut as well, and no part is larger, bytes; 64 MiB by default. */
  maxBytes?: number;
}

/** Stores whole recordings as the chunks of a session; long ones are cut. */
export class WholeFiles implements QueueOwner {
  readonly #options: WholeFilesOptions;
  readonly #cuts = new ConcurrencyLimit<"account">({
    what: "long recordings",
    capacity: MOST_CUTS,
    shares: { account: CUTS_OF_ONE },
  });

  constructor(options: WholeFilesOptions) {
    this.#options = options;
  }

  get queues(): readonly QueueFigures[] {
    return this.#cuts.queues;
  }

  /** Why a file is refused by its first bytes, if it is; see `refusalByHead`. */
  refusalByHead(head: Uint8Array, mediaType: string): AppError | undefined {
    return refusalByHead(head, mediaType, this.#options.converter.isAvailable);
  }

  /**
   * Finds out what a file holds, and decodes it where it is none that we read ourselves. Throws what
   * `readableUpload` throws.
   */
  inspect(upload: Upload, accountId: string, signal: AbortSignal): Promise<ReadableUpload> {
    const { sounds, converter } = this.#options;
    const seconds = LONGEST_HOURS * 3_600;
    return readableUpload(upload, { sounds, converter, accountId, seconds, signal });
  }

  /** How many channels of a recording are stored: of a compressed one that is cut two, or their mix. */
  channelsStored({ mediaType, durationSeconds, channels }: ReadableUpload["audio"]): number {
    const { maxSeconds = MAX_SECONDS } = this.#options;
    const isPlain = /^audio\/(wav|pcm)\b/.test(mediaType);
    return isPlain || durationSeconds <= maxSeconds || channels <= 2 ? channels : 1;
  }

  /**
   * Stores the recording in a session that is recording; everything is durable on return. Throws
   * `overloaded` while the service is behind, and what chunk stores throw; `not_audio` when a long
   * recording cannot be decoded, `payload_too_large` when it is longer than 12 hours, `rate_limited`
   * while the account has its share of long recordings under way, and what `assertRoom` throws: the
   * parts before it stay.
   *
   * @param place `first` is the sequence of its first chunk, 0 by default
   * @param signal stops it
   * @returns the last chunk's sequence
   */
  async store(
    place: { sessionId: string; accountId: string; filename: string; first?: number },
    { upload, audio, isDecoded }: ReadableUpload,
    signal: AbortSignal,
  ): Promise<number> {
    const { backlog, maxSeconds = MAX_SECONDS, maxBytes = MOST_CHUNK_BYTES } = this.#options;
    const { sessionId, accountId, filename, first = 0 } = place;
    backlog.check(sessionId);
    if (audio.durationSeconds <= maxSeconds && upload.bytes <= maxBytes) {
      const { bytes, sha256, content } = upload;
      const chunk = chunkOf(sessionId, first, filename, { ...audio, bytes, sha256 });
      if (isDecoded) await this.#options.assertRoom(sessionId);
      await saveChunk(this.#options, chunk, content, isDecoded);
      return first;
    }
    if (audio.durationSeconds > LONGEST_HOURS * 3_600) {
      const hours = (audio.durationSeconds / 3_600).toFixed(1);
      const message = `The recording is ${hours} h long; at most ${LONGEST_HOURS} h are taken at once.`;
      throw new AppError("payload_too_large", message);
    }
    const cut = this.#cuts.acquire();
    try {
      cut.claim("account", accountId);
      return await this.#cut({ sessionId, filename, first }, { upload, audio }, signal);
    } finally {
      cut.release();
    }
  }

  async #cut(
    place: { sessionId: string; filename: string; first: number },
    { upload, audio }: Pick<ReadableUpload, "upload" | "audio">,
    signal: AbortSignal,
  ): Promise<number> {
    // A folder of its own, so that what an ended thread was writing goes with it.
    const folder = join(this.#options.folder, newId());
    await mkdir(folder);
    const cut = new Cutting({
      ...(upload.content.kind === "file"
        ? { path: upload.content.path }
        : { data: upload.content.data }),
      mediaType: audio.mediaType,
      folder,
      seconds: this.#options.partSeconds ?? PART_SECONDS,
      bytes: this.#options.maxBytes ?? MOST_CHUNK_BYTES,
    });
    // Who has gone waits for nothing: neither does the thread write the part to its end.
    const stop = (): void => void cut.stop();
    signal.addEventListener("abort", stop, { once: true });
    try {
      return await this.#storeParts(place, cut, signal);
    } finally {
      signal.removeEventListener("abort", stop);
      await cut.stop();
      await rm(folder, { recursive: true, force: true });
    }
  }

  async #storeParts(
    { sessionId, filename, first }: { sessionId: string; filename: string; first: number },
    cut: Cutting,
    signal: AbortSignal,
  ): Promise<number> {
    for (let sequence = first; ; sequence += 1) {
      if (signal.aborted) return sequence - 1;
      await this.#options.assertRoom(sessionId);
      const part = await cut.next();
      if (part === undefined || signal.aborted) return sequence - 1;
      const durationSeconds = part.frames / part.sampleRate;
      const chunk = chunkOf(sessionId, sequence, filename, { ...part, durationSeconds });
      await saveChunk(this.#options, chunk, { kind: "file", path: part.path });
    }
  }
}

type StoredFile = Pick<
  NewChunk,
  "mediaType" | "bytes" | "sha256" | "frames" | "sampleRate" | "durationSeconds" | "part"
>;

function chunkOf(
  sessionId: string,
  sequence: number,
  filename: string,
  file: StoredFile,
): NewChunk {
  const { mediaType, bytes, sha256, frames, sampleRate, durationSeconds } = file;
  return {
    ...{ id: newId(), sessionId, sequence, recordedAt: undefined },
    filename: cutToName(filename, MAX_FILENAME),
    ...{ mediaType, bytes, sha256, frames, sampleRate, durationSeconds },
  };
}

/** One recording that is being cut, in a thread of its own. */
class Cutting {
  readonly #thread: Worker;
  #isOver = false;

  constructor(order: CutOrder) {
    this.#thread = new Worker(ENTRY, {
      workerData: order,
      execArgv: ["--disable-warning=ExperimentalWarning"],
    });
    // Without a listener an error of the thread would end the process.
    this.#thread.on("error", () => {});
    this.#thread.once("exit", () => {
      this.#isOver = true;
    });
    this.#thread.unref();
  }

  /** The next part; undefined at the end. One call at a time. */
  async next(): Promise<CutPart | undefined> {
    const answered = createDeferred<CutAnswer>();
    const gone = (): void => answered.reject(new AppError("unavailable", "Cutting ended."));
    if (this.#isOver) gone();
    this.#thread.once("message", answered.resolve);
    this.#thread.once("exit", gone);
    try {
      this.#thread.postMessage("next");
      const answer = await withTimeout(answered.promise, CUT_MS, "Cutting a recording");
      if ("part" in answer) return answer.part;
      const { failed, errno } = answer;
      const fault = systemFault(Object.assign(new Error(failed), { code: errno }));
      throw fault ?? new AppError("not_audio", `The recording cannot be decoded: ${failed}`);
    } finally {
      this.#thread.off("message", answered.resolve);
      this.#thread.off("exit", gone);
    }
  }

  async stop(): Promise<void> {
    await this.#thread.terminate();
  }
}
