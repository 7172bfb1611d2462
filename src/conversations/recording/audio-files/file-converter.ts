import { rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import {
  BYTES_PER_SECOND,
  type DecodedShape,
  DecodeFailure,
} from "../../../base/decoder/decode-file.ts";
import { decodeRecordings } from "../../../base/decoder/decode-recordings.ts";
import type { DecoderProgram } from "../../../base/decoder/decoder-program.ts";
import { AppError } from "../../../base/errors.ts";
import { newId } from "../../../base/ids.ts";
import type { QueueFigures, QueueOwner } from "../../../base/queue-metrics.ts";
import { FairTurns } from "../../../base/work/fair-turns.ts";
import type { UploadContent } from "../../../rest/route.ts";

const MEMORY_BYTES = 512 * 1024 * 1024;
/** An hour takes half a minute on a slow machine. */
const LONGEST_MS = 15 * 60_000;
/** Files of different accounts are decoded at once, each in a process of its own; what waits has come. */
const TURNS = {
  ...{ queue: "conversions", what: "Decoding files", atOnce: 2, atOnceOfOne: 1 },
  ...{ waiting: { capacity: 32, share: 4 }, longestWaitMs: 4 * LONGEST_MS, retryAfter: 10 },
};

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
  readonly #turns = new FairTurns(TURNS);

  constructor(options: ConverterOptions) {
    this.#options = options;
  }

  get queues(): readonly QueueFigures[] {
    return this.#turns.queues;
  }

  /** Whether there is a decoder. */
  get isAvailable(): boolean {
    return this.#options.program !== undefined;
  }

  /**
   * Throws `not_audio` for what cannot be decoded, with the decoder's reason, `payload_too_large` for
   * what would take more than its limits, `overloaded` when too many files wait, `unavailable` without
   * a decoder or while it waits for a caller that goes, and then the abort reason of its caller.
   *
   * @param starts where further recordings begin in it, bytes; see `recordingStarts`
   */
  async convert(
    content: UploadContent,
    order: ConversionOrder,
    starts: readonly number[] = [],
  ): Promise<ConvertedFile> {
    const decode = () => this.#decode(content, order, starts);
    return this.#turns.run(order.accountId, decode, order.signal);
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
