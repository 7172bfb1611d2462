import { rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import {
  BYTES_PER_SECOND,
  type DecodedShape,
  DecodeFailure,
} from "../../../base/decoder/decode-file.ts";
import { decodeRecordings } from "../../../base/decoder/decode-recordings.ts";
import type { DecoderProgram } from "../../../base/decoder/decoder-program.ts";
import { createDeferred, type Deferred } from "../../../base/deferred.ts";
import { AppError } from "../../../base/errors.ts";
import { FairQueue } from "../../../base/fair-queue.ts";
import { newId } from "../../../base/ids.ts";
import type { QueueFigures, QueueOwner } from "../../../base/queue-metrics.ts";
import type { UploadContent } from "../../../rest/route.ts";

/** Files that are decoded at once, of different accounts; each has a process of its own. */
const AT_ONCE = 2;
/** Files that wait; each is an upload that has come. */
const WAITING = { capacity: 32, share: 4 };
const MEMORY_BYTES = 512 * 1024 * 1024;
/** An hour takes half a minute on a slow machine. */
const LONGEST_MS = 15 * 60_000;

const CODES = {
  undecodable: "not_audio",
  too_large: "payload_too_large",
  no_decoder: "unavailable",
} as const;

interface ConverterOptions {
  /** Folder of unfinished files. */
  folder: string;
  /** Undefined where none is installed. */
  program: DecoderProgram | undefined;
  /** Until a file's decoder is killed, milliseconds; 15 minutes by default. */
  longestMs?: number;
}

interface Turn {
  accountId: string;
  begun: Deferred<void>;
}

interface ConversionOrder {
  /** The account whose file it is: accounts have their turns one after the other. */
  accountId: string;
  /** Longest sound that is taken, seconds. */
  seconds: number;
  signal: AbortSignal;
}

/** The sound of a file as a WAV file of 16 bits at 16 kHz; whoever gets it moves or removes it. */
export interface ConvertedFile extends DecodedShape {
  path: string;
  bytes: number;
}

/** Turns sound files of any usual format into WAV, each in a process of its own with limits. */
export class FileConverter implements QueueOwner {
  readonly #options: ConverterOptions;
  readonly #waiting = new FairQueue<Turn>(WAITING);
  /** The accounts of the files that are decoded now. */
  readonly #running = new Set<string>();

  constructor(options: ConverterOptions) {
    this.#options = options;
  }

  get queues(): readonly QueueFigures[] {
    const { size, capacity, refused } = this.#waiting;
    return [
      {
        queue: "conversions",
        length: this.#running.size + size,
        limit: AT_ONCE + capacity,
        refused,
      },
    ];
  }

  /** Whether there is a decoder. */
  get isAvailable(): boolean {
    return this.#options.program !== undefined;
  }

  /**
   * Throws `not_audio` for what cannot be decoded, with the decoder's reason, `payload_too_large` for
   * what would take more than its limits, `overloaded` when too many files wait, `unavailable` without
   * a decoder, and the abort reason of its caller.
   *
   * @param starts where further recordings begin in it, bytes; see `recordingStarts`
   */
  async convert(
    content: UploadContent,
    order: ConversionOrder,
    starts: readonly number[] = [],
  ): Promise<ConvertedFile> {
    const { accountId } = order;
    await this.#takePlace(accountId);
    try {
      return await this.#decode(content, order, starts);
    } finally {
      this.#running.delete(accountId);
      const next = this.#waiting.take((holder) => !this.#running.has(holder));
      if (next !== undefined) this.#begin(next);
    }
  }

  async #takePlace(accountId: string): Promise<void> {
    const turn: Turn = { accountId, begun: createDeferred<void>() };
    if (this.#running.size < AT_ONCE && !this.#running.has(accountId)) return this.#begin(turn);
    const refusal = { retryAfter: 10 };
    this.#waiting
      .offer(accountId, turn)
      ?.begun.reject(new AppError("overloaded", "Too many files wait to be decoded.", refusal));
    await turn.begun.promise;
  }

  #begin({ accountId, begun }: Turn): void {
    this.#running.add(accountId);
    begun.resolve();
  }

  async #decode(
    content: UploadContent,
    order: ConversionOrder,
    starts: readonly number[],
  ): Promise<ConvertedFile> {
    const { folder, program, longestMs = LONGEST_MS } = this.#options;
    if (program === undefined) throw new AppError("unavailable", "There is no decoder.");
    const [input, path] = [join(folder, `${newId()}.upload`), join(folder, `${newId()}.upload`)];
    try {
      if (content.kind === "memory") await writeFile(input, content.data, { mode: 0o600 });
      const files = { input: content.kind === "file" ? content.path : input, starts, output: path };
      const shape = await decodeRecordings(program, files, {
        limits: { outputBytes: order.seconds * BYTES_PER_SECOND, memoryBytes: MEMORY_BYTES },
        longestMs,
        signal: order.signal,
      });
      const { size: bytes } = await stat(path);
      return { ...shape, path, bytes };
    } catch (error) {
      await rm(path, { force: true });
      if (!(error instanceof DecodeFailure)) throw error;
      throw new AppError(CODES[error.reason], error.message);
    } finally {
      if (content.kind === "memory") await rm(input, { force: true });
    }
  }
}
