import type { MessagePort } from "node:worker_threads";
import { createDeferred, type Deferred } from "../../src/base/deferred.ts";
import { AppError } from "../../src/base/errors.ts";
import type {
  InferenceAnswer,
  InferenceCall,
  InferenceEvent,
  InferenceRequest,
  RecognitionAnswer,
  RecognitionRequest,
  VoiceAnswer,
  VoiceRequest,
} from "./inference-protocol.ts";

/** An answer that was asked for. */
export interface PendingInference<T extends InferenceAnswer = RecognitionAnswer> {
  /**
   * Undefined when it was left out, because too much waited, or dropped. Rejects with AppError
   * `unavailable` when the networks failed.
   */
  readonly answer: Promise<T | undefined>;
  /** Nobody waits for it any more. */
  drop(): void;
}

/** Asks the inference threads for one session. */
export type SessionInference = Pick<InferenceClient, "read" | "hear">;

/** Asks the inference threads, from a reading thread. */
export class InferenceClient {
  readonly #port: MessagePort;
  readonly #pending = new Map<number, Deferred<InferenceAnswer | undefined>>();
  #nextId = 1;
  #isClosed = false;

  /** @param port of `InferencePool.connect` */
  constructor(port: MessagePort) {
    this.#port = port;
    port.on("message", (event: InferenceEvent) => this.#onEvent(event));
    port.on("close", () => this.#failAll());
    // An idle thread may end although it could still ask.
    port.unref();
  }

  /** Asks for a reading; the request's samples are handed over. */
  read(request: Omit<RecognitionRequest, "kind">, share?: string): PendingInference {
    return this.#run({ kind: "read", ...request }, share) as PendingInference;
  }

  /** Asks about voices. */
  hear(kind: VoiceRequest["kind"], pcm: Int16Array, share?: string): PendingInference<VoiceAnswer> {
    return this.#run({ kind, pcm, isFinal: true }, share) as PendingInference<VoiceAnswer>;
  }

  /** The same, where turns are taken by shares. */
  of(share: string | undefined): SessionInference {
    return {
      read: (request) => this.read(request, share),
      hear: (kind, pcm) => this.hear(kind, pcm, share),
    };
  }

  #run(request: InferenceRequest, share: string | undefined): PendingInference<InferenceAnswer> {
    const id = this.#nextId++;
    const deferred = createDeferred<InferenceAnswer | undefined>();
    deferred.promise.catch(() => {});
    if (this.#isClosed) deferred.reject(gone());
    else {
      this.#pending.set(id, deferred);
      this.#port.ref();
      this.#send({ kind: "run", id, request, share }, [request.pcm.buffer as ArrayBuffer]);
    }
    return { answer: deferred.promise, drop: () => this.#drop(id) };
  }

  close(): void {
    this.#port.close();
    this.#failAll();
  }

  #drop(id: number): void {
    const deferred = this.#pending.get(id);
    if (deferred === undefined) return;
    this.#settle(id);
    this.#send({ kind: "drop", id });
    deferred.resolve(undefined);
  }

  #onEvent(event: InferenceEvent): void {
    if (event.kind === "ready" || event.kind === "broken") return;
    const deferred = this.#pending.get(event.id);
    this.#settle(event.id);
    if (event.kind === "done") deferred?.resolve(event.answer);
    else if (event.kind === "left-out") deferred?.resolve(undefined);
    else deferred?.reject(new AppError("unavailable", `The networks failed: ${event.reason}`));
  }

  #settle(id: number): void {
    this.#pending.delete(id);
    if (this.#pending.size === 0) this.#port.unref();
  }

  #failAll(): void {
    this.#isClosed = true;
    for (const deferred of this.#pending.values()) deferred.reject(gone());
    this.#pending.clear();
  }

  #send(call: InferenceCall, transfer: ArrayBuffer[] = []): void {
    this.#port.postMessage(call, transfer);
  }
}

function gone(): AppError {
  return new AppError("unavailable", "The networks of this worker are gone.");
}
