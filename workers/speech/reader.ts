import type { MessagePort } from "node:worker_threads";
import type {
  Open,
  Opened,
  TranscribeRequest,
  TranscribeResponse,
} from "../../src/wire/gen/voice/v1/worker.ts";
import type { SpeechEngine } from "../../src/wire/speech-engines.ts";
import type { MissingEngine } from "../../src/wire/worker-announcement.ts";
import type { InferenceClient } from "../inference/inference-client.ts";
import type { EngineSettings } from "./engine-schemas.ts";

/** A request for a reader; batches are split before. */
export type RequestMessage = Exclude<NonNullable<TranscribeRequest["message"]>, { $case: "batch" }>;
export type ResponseMessage = NonNullable<TranscribeResponse["message"]>;

export interface ReaderStep {
  messages: ResponseMessage[];
  /** True when there is nothing to do until the next `enqueue`. */
  idle: boolean;
  /** True after `Done`: no further messages come. */
  done: boolean;
  /** True when it is idle because an answer is still to come, after which `onReady` tells. */
  waits?: boolean;
}

/** The reading of one session; `workers/speech/session-reader.ts` implements it in production. */
export interface Reader {
  readonly opened: Opened;
  /** Working time of the engine, and of the networks of voices where they alone were waited for, so far, milliseconds. */
  readonly engineMs: number;
  /** Takes a chunk, gap, finalize or finish; throws an AppError for an invalid one. */
  enqueue(message: RequestMessage): void;
  queuedSamples(): number;
  /** True while a final of live audio is about to come: such readers go first. */
  readonly isUrgent?: boolean;
  /** End of the audio that was looked at so far, in samples; absent where that is not known. */
  readonly heardTo?: number;
  /** Called when a reader that waits has work again. */
  onReady?(listener: () => void): void;
  /** Processes at most 100 ms of audio, synchronously. */
  step(): ReaderStep;
  close(): void;
}

export interface ReaderFactory {
  /** The engines that can be asked for; the first one reads where none is. */
  readonly engines: readonly SpeechEngine[];
  /** Engines that are configured and cannot be used, with what is missing. */
  readonly missing?: readonly MissingEngine[];
  /** Opens a reading. Rejects with an AppError when the session cannot be opened. */
  open(open: Open): Promise<Reader>;
  /** Frees memory of native libraries, which the end of the thread does not free. */
  close(): Promise<void>;
}

/** What a thread makes its readers with. */
export interface ReaderTools {
  /** The process's inference threads; absent where there are none. */
  inference?: InferenceClient | undefined;
  /** Moonshine alone when absent. */
  engines?: readonly EngineSettings[] | undefined;
}

/** Settings of a thread, given at its start. */
export interface ReaderSettings {
  /** A connection to the process's inference threads; absent where nothing is read here. */
  inference?: MessagePort;
  /** The engines of the thread; Moonshine alone when absent. */
  engines?: readonly EngineSettings[];
}
