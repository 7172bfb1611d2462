import type { MessagePort, Transferable, Worker } from "node:worker_threads";
import type { Endpoint } from "comlink";
import { AppError, type ErrorCode, errorMessage } from "../../src/base/errors.ts";
import type { ReaderSettings, ResponseMessage } from "../speech/reader.ts";
import type { TextTaskName } from "./text-task.ts";

/** Pieces of work on text that one thread has at hand at most. */
export const MAX_TEXTS = 4;

/** An error as it crosses between threads; comlink alone would lose the code. */
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
  /** While held, a session is not stepped: its stream cannot take more results. */
  hold(session: number, held: boolean): CallResult<boolean>;
  /** Nothing of the session is told after the answer. */
  close(session: number): CallResult<boolean>;
  /** Answers when it has begun; `text`, then `text-done` or `text-failed` events follow. */
  startText(work: number, task: TextTaskName, request: Uint8Array): Promise<CallResult<boolean>>;
  /** Nothing of the work is told after the answer. */
  cancelText(work: number): CallResult<boolean>;
  dispose(): Promise<CallResult<boolean>>;
}

/** An encoded TranscribeResponse and which of them it is. */
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

/** What a thread tells unasked, over its own port. */
export type ThreadEvent =
  | { kind: "ready"; engines: string[] }
  | { kind: "broken"; fault: ThreadFault }
  /** Alive; the next sign may take up to `allowanceMs` where that is longer than usual. */
  | { kind: "beat"; allowanceMs: number; heapBytes: number }
  | { kind: "results"; batches: SessionBatch[] }
  | { kind: "session-failed"; session: number; fault: ThreadFault }
  /** One answer of work on text, encoded. */
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

/** comlink speaks the browser's events, Node's ports do not. Messages of one listener only. */
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
