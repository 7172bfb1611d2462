import type { MessagePort, Transferable, Worker } from "node:worker_threads";
import type { Endpoint } from "comlink";
import { AppError, type ErrorCode, errorMessage } from "../../src/base/errors.ts";
import type { SpeechEngine } from "../../src/wire/speech-engines.ts";
import type { MissingEngine } from "../../src/wire/worker-announcement.ts";
import type { ReaderSettings, ResponseMessage } from "../speech/reader.ts";
import type { TextTaskName } from "./text-task.ts";

/** Most tasks on text that one thread runs at once. */
export const MAX_TEXTS = 8;

/** An error in the form in which it crosses threads; comlink alone would lose the code. */
interface ThreadFault {
  code: ErrorCode;
  message: string;
  retryable: boolean;
}

export type CallResult<T> = { ok: true; value: T } | { ok: false; fault: ThreadFault };

export interface OpenedSession {
  sessionId: string;
  attempt: number;
  /** The `Opened` answer, encoded. */
  opened: Uint8Array;
}

export interface FeedResult {
  queuedSamples: number;
  /** True once Finish was among the requests. */
  finishing: boolean;
}

/** Calls into a thread, by comlink. Requests are encoded TranscribeRequests. */
export interface ThreadCalls {
  open(session: number, request: Uint8Array): Promise<CallResult<OpenedSession>>;
  feed(session: number, request: Uint8Array): CallResult<FeedResult>;
  /**
   * Holds or continues a session: a held one is not stepped, because its stream cannot take more
   * results.
   */
  hold(session: number, held: boolean): CallResult<boolean>;
  /** Ends a session; no results of it are sent after the answer. */
  close(session: number): CallResult<boolean>;
  /** Answers when the work has started; `text`, then `text-done` or `text-failed` events follow. */
  startText(work: number, task: TextTaskName, request: Uint8Array): Promise<CallResult<boolean>>;
  /** Cancels work; no events of it are sent after the answer. */
  cancelText(work: number): CallResult<boolean>;
  dispose(): Promise<CallResult<boolean>>;
}

/** An encoded TranscribeResponse with its kind. */
export interface EncodedResult {
  kind: ResponseMessage["$case"];
  bytes: Uint8Array;
}

export interface SessionBatch {
  session: number;
  results: EncodedResult[];
  queuedSamples: number;
  done: boolean;
}

/** An event that a thread sends over its own port. */
export type ThreadEvent =
  | { kind: "ready"; engines: SpeechEngine[]; missing: MissingEngine[] }
  | { kind: "broken"; fault: ThreadFault }
  /** A sign of life; the next one may take up to `allowanceMs` if that is longer than usual. */
  | { kind: "beat"; allowanceMs: number; heapBytes: number }
  | { kind: "results"; batches: SessionBatch[] }
  | { kind: "session-failed"; session: number; fault: ThreadFault }
  /** One encoded answer of work on text. */
  | { kind: "text"; work: number; message: Uint8Array }
  | { kind: "text-done"; work: number }
  | { kind: "text-failed"; work: number; fault: ThreadFault };

export interface ThreadData {
  events: MessagePort;
  settings: ReaderSettings;
}

export function toFault(error: unknown): ThreadFault {
  if (error instanceof AppError) {
    return { code: error.code, message: error.message, retryable: error.retryable };
  }
  return { code: "internal", message: errorMessage(error), retryable: false };
}

export function fromFault(fault: ThreadFault): AppError {
  return new AppError(fault.code, fault.message);
}

interface PortEvent {
  data: unknown;
}

type Listener = ((event: PortEvent) => void) | { handleEvent(event: PortEvent): void };

/** Adapts a Node port to comlink, which expects the browser's events; `message` events only. */
export function toEndpoint(port: Worker | MessagePort): Endpoint {
  const wrapped = new WeakMap<Listener, (data: unknown) => void>();
  return {
    postMessage: (message: unknown, transfer?: Transferable[]) => {
      port.postMessage(message, transfer);
    },
    addEventListener: (_type: string, listener: Listener) => {
      const onMessage = (data: unknown): void => {
        const event: PortEvent = { data };
        if (typeof listener === "function") listener(event);
        else listener.handleEvent(event);
      };
      wrapped.set(listener, onMessage);
      port.on("message", onMessage);
    },
    removeEventListener: (_type: string, listener: Listener) => {
      const onMessage = wrapped.get(listener);
      if (onMessage !== undefined) port.off("message", onMessage);
    },
  };
}
