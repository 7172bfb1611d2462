import type {
  Open,
  Opened,
  TranscribeRequest,
  TranscribeResponse,
} from "../../src/wire/gen/voice/v1/worker.ts";

/** A batch is taken apart before it comes to a reader. */
export type RequestMessage = Exclude<NonNullable<TranscribeRequest["message"]>, { $case: "batch" }>;
export type ResponseMessage = NonNullable<TranscribeResponse["message"]>;

/** What one step of a reader brought. */
export interface ReaderStep {
  messages: ResponseMessage[];
  /** True when there is nothing to do until the next `enqueue`. */
  idle: boolean;
  /** True after `Done`: nothing more will come. */
  done: boolean;
}

/** The reading of one session; `workers/speech/session-reader.ts` is the one that ships. */
export interface Reader {
  readonly opened: Opened;
  /** Time spent in the engine so far, milliseconds. */
  readonly engineMs: number;
  /** Takes a chunk, gap, finalize or finish; throws an AppError on what cannot be. */
  enqueue(message: RequestMessage): void;
  queuedSamples(): number;
  /** Synchronous work over at most 100 ms of audio. */
  step(): ReaderStep;
  close(): void;
}

export interface ReaderFactory {
  /** Names of the engines, e.g. "pocketsphinx". */
  readonly engines: readonly string[];
  /** Rejects with an AppError when the session cannot be opened. */
  open(open: Open): Promise<Reader>;
  /** Frees what the thread's end would not: memory of native libraries. */
  close(): Promise<void>;
}

/** What a thread is told at its start. */
export interface ReaderSettings {
  /** Folder with the unpacked native libraries; the system's own when absent. */
  nativeRoot: string | undefined;
  /** Sessions the thread must hold at once. */
  sessions: number;
}
