import {
  type ClientDuplexStream,
  type ServiceError,
  type StatusObject,
  status,
} from "@grpc/grpc-js";
import { SESSION_RATE } from "../base/audio/sample-rate.ts";
import { AppError } from "../base/errors.ts";
import type { Runtime, Timer } from "../base/runtime.ts";
import type { TranscribeRequest, TranscribeResponse } from "../wire/gen/voice/v1/worker.ts";
import { fromGrpcFailure, isReportedByPeer } from "../wire/grpc-status.ts";
import type {
  TranscribeMessage,
  TranscribeResult,
  TranscriptionStream,
} from "./transcription-stream.ts";

/** Limits of one batch; larger ones are no faster. */
const MAX_REQUESTS = 64;
const MAX_BYTES = 256 * 1024;

/** Takes requests; `write` returns false when it is full until it drains. */
interface RequestSink {
  write(request: TranscribeRequest): boolean;
  readonly writableNeedDrain: boolean;
}

/**
 * Combines the requests of one turn of the event loop, because a message costs far more than its
 * bytes. The first request after a pause is sent at once, so a single one is not delayed.
 */
export class RequestBatcher {
  readonly #sink: RequestSink;
  #waiting: TranscribeRequest[] = [];
  #bytes = 0;
  #turn: NodeJS.Immediate | undefined;

  constructor(sink: RequestSink) {
    this.#sink = sink;
  }

  /** Adds a request; false when the sink is full. The request was taken either way. */
  write(request: TranscribeRequest): boolean {
    if (this.#turn === undefined) {
      this.#turn = setImmediate(() => this.#turnOver());
      return this.#sink.write(request);
    }
    this.#waiting.push(request);
    this.#bytes += sizeOf(request);
    if (this.#waiting.length >= MAX_REQUESTS || this.#bytes >= MAX_BYTES) return this.flush();
    return !this.#sink.writableNeedDrain;
  }

  /** Writes the waiting requests now. */
  flush(): boolean {
    const [first] = this.#waiting;
    if (first === undefined) return !this.#sink.writableNeedDrain;
    const requests = this.#waiting;
    this.#waiting = [];
    this.#bytes = 0;
    if (requests.length === 1) return this.#sink.write(first);
    return this.#sink.write({ message: { $case: "batch", value: { requests } } });
  }

  /** Drops the waiting requests. */
  close(): void {
    clearImmediate(this.#turn);
    this.#waiting = [];
    this.#bytes = 0;
  }

  /** While each turn brings more requests, they continue to be combined. */
  #turnOver(): void {
    const isBusy = this.#waiting.length > 0;
    this.#turn = isBusy ? setImmediate(() => this.#turnOver()) : undefined;
    this.flush();
  }
}

function sizeOf({ message }: TranscribeRequest): number {
  return message?.$case === "chunk" ? message.value.data.byteLength : 0;
}

/**
 * Workers report progress each second, so up to this much audio may be unreported though it was
 * read.
 */
const REPORTED_SAMPLES = 2 * SESSION_RATE;
/** `send` returns false when more audio than this is unread at the worker: 90 s. */
export const MAX_AHEAD_SAMPLES = 90 * SESSION_RATE;

/** Time that the worker has to end a stream that its client has left, milliseconds. */
const LEAVE_MS = 5_000;

type Call = ClientDuplexStream<TranscribeRequest, TranscribeResponse>;

interface GrpcTranscriptionOptions {
  call: Call;
  runtime: Runtime;
  /** Time limit from the first message sent to Opened, milliseconds. */
  openMs: number;
  /**
   * Longest time without a message while audio is unread, milliseconds; it must cover the loading
   * and the final passes of other sessions in the same thread.
   */
  stallMs: number;
  /** Called when the connection broke; resolves to whether the worker's process ended. */
  isGone: () => Promise<boolean>;
  /** Called once when the call is over, whatever the reason. */
  onClosed: () => void;
}

/** A TranscriptionStream over one Transcribe call. */
export class GrpcTranscription implements TranscriptionStream {
  readonly #call: Call;
  readonly #batcher: RequestBatcher;
  readonly #runtime: Runtime;
  readonly #openMs: number;
  readonly #stallMs: number;
  readonly #isGone: () => Promise<boolean>;
  readonly #onClosed: () => void;
  #onMessage: (message: TranscribeResult) => void = () => {};
  #onDrain: () => void = () => {};
  #onEnd: (error: AppError | undefined) => void = () => {};
  #status: StatusObject | undefined;
  #opening: Timer | undefined;
  #stalling: Timer | undefined;
  /** How far the worker is by its messages. */
  #worker: "opening" | "open" | "done" = "opening";
  #takesBatches = false;
  #isReadOut = false;
  #isClosed = false;
  #isHalfClosed = false;
  /** End of the audio sent, and of the audio that the worker reported as read, in samples. */
  #sentTo = 0;
  #readTo = 0;
  #isFull = false;

  constructor(options: GrpcTranscriptionOptions) {
    this.#call = options.call;
    this.#batcher = new RequestBatcher(options.call);
    this.#runtime = options.runtime;
    this.#openMs = options.openMs;
    this.#stallMs = options.stallMs;
    this.#isGone = options.isGone;
    this.#onClosed = options.onClosed;
    this.#call.on("data", (response: TranscribeResponse) => this.#take(response));
    this.#call.on("drain", () => this.#drain());
    this.#call.on("error", (error: ServiceError) => this.#onStatus(error));
    this.#call.on("status", (told: StatusObject) => this.#onStatus(told));
    this.#call.on("end", () => {
      this.#isReadOut = true;
      this.#settle();
    });
  }

  /**
   * Audio that was sent and is not read yet, in samples; 0 when it is so little that the worker may
   * have read it.
   */
  get ahead(): number {
    return this.#hasUnread() ? this.#sentTo - this.#readTo : 0;
  }

  send(message: TranscribeMessage): boolean {
    if (this.#isClosed || this.#isHalfClosed || this.#status !== undefined) return true;
    if (message.$case === "open") {
      this.#expectOpened();
      this.#readTo = message.value.checkpoint?.position ?? 0;
    } else if (message.$case === "chunk" || message.$case === "gap") {
      if (!this.#hasUnread()) this.#stalling?.refresh();
      this.#sentTo = Math.max(this.#sentTo, message.value.start + message.value.length);
    }
    // One chunk may hold half an hour of audio; the streams' own limits count messages, this one
    // audio.
    const sink = this.#takesBatches ? this.#batcher : this.#call;
    this.#isFull = !sink.write({ message }) || this.#isFarAhead();
    return !this.#isFull;
  }

  onMessage(listener: (message: TranscribeResult) => void): void {
    this.#onMessage = listener;
  }

  onDrain(listener: () => void): void {
    this.#onDrain = listener;
  }

  onEnd(listener: (error: AppError | undefined) => void): void {
    this.#onEnd = listener;
  }

  finish(): void {
    if (this.#isClosed || this.#isHalfClosed) return;
    this.#isHalfClosed = true;
    this.#batcher.flush();
    this.#call.end();
  }

  /**
   * Ends the reading. An idle stream is half-closed rather than cancelled, because Node closes a
   * connection, with all its streams, after more than a thousand streams on it were cancelled.
   */
  cancel(): void {
    if (!this.#close()) return;
    const isIdle = this.#worker !== "opening" && !this.#isHalfClosed && !this.#hasUnread();
    if (!isIdle || this.#status !== undefined) return this.#call.cancel();
    this.#call.end();
    // Messages until then are still read, because the end comes only after them.
    const leaving = this.#runtime.after(LEAVE_MS, () => this.#call.cancel());
    this.#call.on("end", () => leaving.cancel());
  }

  #take(response: TranscribeResponse): void {
    if (this.#isClosed || response.message === undefined) return;
    if (response.message.$case === "opened") {
      this.#opening?.cancel();
      this.#worker = "open";
      this.#takesBatches = response.message.value.batches === true;
      this.#stalling = this.#runtime.every(this.#stallMs, () => this.#checkStall());
    }
    if (response.message.$case === "done") this.#worker = "done";
    this.#stalling?.refresh();
    this.#follow(response.message);
    this.#onMessage(response.message);
    this.#drain();
  }

  #follow(message: TranscribeResult): void {
    if (message.$case === "progress") {
      this.#readTo = Math.max(this.#readTo, message.value.processedTo);
    } else if (message.$case === "utterance") {
      this.#readTo = Math.max(this.#readTo, message.value.end);
    }
  }

  #hasUnread(): boolean {
    return this.#sentTo - this.#readTo > REPORTED_SAMPLES;
  }

  /**
   * Ends the call when the worker stalls. After Finish the final pass may take long, and the
   * worker's own watch applies.
   */
  #checkStall(): void {
    if (this.#isHalfClosed || !this.#hasUnread()) return;
    this.#giveUp(new AppError("worker_broken", `No sign of the worker for ${this.#stallMs} ms.`));
  }

  #giveUp(error: AppError): void {
    if (!this.#close()) return;
    this.#call.cancel();
    this.#onEnd(error);
  }

  #isFarAhead(): boolean {
    return this.#sentTo - this.#readTo > MAX_AHEAD_SAMPLES;
  }

  #drain(): void {
    if (!this.#isFull || this.#isClosed || this.#isFarAhead()) return;
    if (this.#call.writableNeedDrain) return;
    this.#isFull = false;
    this.#onDrain();
  }

  #expectOpened(): void {
    this.#opening = this.#runtime.after(this.#openMs, () => {
      this.#giveUp(new AppError("timeout", `The worker did not answer in ${this.#openMs} ms.`));
    });
  }

  #onStatus(told: StatusObject): void {
    this.#status ??= told;
    this.#settle();
  }

  /**
   * Ends the stream when both the status and all messages were received; the status may come first.
   */
  #settle(): void {
    if (this.#status === undefined || !this.#isReadOut || !this.#close()) return;
    if (this.#status.code !== status.OK) this.#endBroken(this.#status);
    else if (this.#worker === "done") this.#onEnd(undefined);
    else this.#onEnd(new AppError("unavailable", "The worker ended the stream before its end."));
  }

  /**
   * Decides how a broken call ends. A worker that shuts down says so. If one that had opened the
   * session does not, the worker is broken when its process ended, and otherwise only the
   * connection was.
   */
  #endBroken(told: StatusObject): void {
    const failure = fromGrpcFailure(told);
    const isBroken = failure.code === "unavailable" || failure.code === "internal";
    if (this.#worker === "opening" || isReportedByPeer(told) || !isBroken)
      return this.#onEnd(failure);
    const lost = `The worker was lost: ${failure.message}`;
    this.#isGone().then(
      (gone) => this.#onEnd(new AppError(gone ? "worker_broken" : "unavailable", lost)),
      () => this.#onEnd(new AppError("unavailable", lost)),
    );
  }

  /** Returns false when it was closed already. */
  #close(): boolean {
    if (this.#isClosed) return false;
    this.#isClosed = true;
    this.#batcher.close();
    this.#opening?.cancel();
    this.#stalling?.cancel();
    this.#onClosed();
    return true;
  }
}
