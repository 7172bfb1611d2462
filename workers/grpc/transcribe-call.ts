import { SESSION_RATE } from "../../src/base/audio/sample-rate.ts";
import { AppError, toAppError } from "../../src/base/errors.ts";
import type { Log } from "../../src/base/log.ts";
import { toGrpcFailure } from "../../src/wire/grpc-status.ts";
import type { ThreadPool } from "../threads/pool.ts";
import type { ThreadSession } from "../threads/thread.ts";
import type { EncodedResult, SessionBatch } from "../threads/thread-protocol.ts";
import type { EncodedCall } from "./worker-service.ts";

interface ResultWriterOptions {
  call: EncodedCall;
  /**
   * Called when the stream is full and when it has room again; the caller pauses results in
   * between.
   */
  onCongestion: (congested: boolean) => void;
  /** Called when more than MAX_WAITING results wait. */
  onOverflow: () => void;
}

/** Most results that wait for a client that does not read. */
export const MAX_WAITING = 4_096;

/**
 * Writes results at the client's pace. Results that still come during congestion (of steps that
 * were running when it began) wait here; of hypotheses and progress only the newest is kept.
 */
export class ResultWriter {
  readonly #call: EncodedCall;
  readonly #onCongestion: (congested: boolean) => void;
  readonly #onOverflow: () => void;
  #waiting: EncodedResult[] = [];
  #congested = false;
  #isHeld = false;
  #ending = false;

  constructor(options: ResultWriterOptions) {
    this.#call = options.call;
    this.#onCongestion = options.onCongestion;
    this.#onOverflow = options.onOverflow;
    this.#call.on("drain", () => this.#drain());
  }

  get waiting(): number {
    return this.#waiting.length;
  }

  write(result: EncodedResult): void {
    if (this.#ending) return;
    if (this.#congested) this.#wait(result);
    else this.#send(result);
  }

  /** Ends the call when everything is written. */
  end(): void {
    this.#ending = true;
    if (!this.#congested) this.#call.end();
  }

  #send(result: EncodedResult): void {
    const { buffer, byteOffset, byteLength } = result.bytes;
    this.#congested ||= !this.#call.write(Buffer.from(buffer, byteOffset, byteLength));
    if (!this.#congested || this.#isHeld) return;
    this.#isHeld = true;
    this.#onCongestion(true);
  }

  #wait(result: EncodedResult): void {
    if (isSuperseded(result)) {
      this.#waiting = this.#waiting.filter((waiting) => waiting.kind !== result.kind);
    }
    this.#waiting.push(result);
    if (this.#waiting.length > MAX_WAITING) this.#onOverflow();
  }

  #drain(): void {
    this.#congested = false;
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const result of waiting) {
      if (this.#congested) this.#waiting.push(result);
      else this.#send(result);
    }
    if (this.#congested) return;
    if (this.#ending) this.#call.end();
    else if (this.#isHeld) {
      this.#isHeld = false;
      this.#onCongestion(false);
    }
  }
}

function isSuperseded(result: EncodedResult): boolean {
  return result.kind === "hypothesis" || result.kind === "progress";
}

/** A session's stream is not read while more audio than this waits: 60 s. */
export const MAX_QUEUED_SAMPLES = 60 * SESSION_RATE;
/** Most requests sent to the thread that its queue does not count yet. */
export const MAX_IN_FLIGHT = 4;

interface TranscribeCallOptions {
  call: EncodedCall;
  pool: ThreadPool;
  log: Log;
  /** Time without a message in either direction after which the stream ends, milliseconds. */
  idleMs: number;
  /** Called once, when the call has released everything. */
  onClosed: () => void;
}

/**
 * One Transcribe stream.
 *
 * waiting ─first message→ opening ─thread answers→ reading ─Finish, Done→ closed
 *    any ─cancel | half-close without Finish | failure | idle→ closed
 */
export class TranscribeCall {
  readonly #call: EncodedCall;
  readonly #pool: ThreadPool;
  readonly #onClosed: () => void;
  readonly #idleMs: number;
  readonly #writer: ResultWriter;
  #log: Log;
  #session: ThreadSession | undefined;
  #isOpening = false;
  #isClosed = false;
  #halfClosed = false;
  #finishing = false;
  #inFlight = 0;
  #queuedSamples = 0;
  #idle: NodeJS.Timeout | undefined;

  constructor(options: TranscribeCallOptions) {
    this.#call = options.call;
    this.#pool = options.pool;
    this.#log = options.log;
    this.#idleMs = options.idleMs;
    this.#onClosed = options.onClosed;
    const onCongestion = (congested: boolean): void => this.#session?.hold(congested);
    const onOverflow = (): void =>
      this.fail(new AppError("timeout", "The client does not read its results."));
    this.#writer = new ResultWriter({ call: options.call, onCongestion, onOverflow });
  }

  /** Requests and samples that wait for their thread, and results that wait for their client. */
  get waiting(): { requests: number; samples: number; results: number } {
    const [requests, samples] = [this.#inFlight, this.#queuedSamples];
    return { requests, samples, results: this.#writer.waiting };
  }

  start(): void {
    const tooLong = new AppError("timeout", `No message for ${this.#idleMs / 1000} s.`);
    this.#idle = setTimeout(() => this.fail(tooLong), this.#idleMs);
    this.#call.on("data", (request: Buffer) => this.#onRequest(request));
    this.#call.on("end", () => this.#onHalfClose());
    this.#call.on("cancelled", () => this.#close());
    this.#call.on("error", () => this.#close());
    this.#call.on("close", () => this.#close());
  }

  /** Ends the stream with the error; the client continues from its checkpoint elsewhere. */
  fail(error: AppError): void {
    if (this.#isClosed) return;
    const fields = { code: error.code, error: error.message };
    if (error.code === "internal") this.#log.error(fields, "transcription stream failed");
    else this.#log.info(fields, "transcription stream ended early");
    this.#close();
    // This is the documented way in grpc-js to end a streaming call with a custom status.
    this.#call.emit("error", Object.assign(new Error(error.message), toGrpcFailure(error)));
  }

  #onRequest(request: Buffer): void {
    if (this.#isClosed) return;
    this.#touch();
    if (this.#session !== undefined) this.#feed(this.#session, request);
    else if (!this.#isOpening) void this.#open(request);
    else this.fail(new AppError("internal", "A message came while the stream was paused."));
  }

  async #open(request: Buffer): Promise<void> {
    this.#isOpening = true;
    this.#call.pause();
    try {
      const session = await this.#pool.open(request, {
        onBatch: (batch) => this.#onBatch(batch),
        onFailed: (error) => this.fail(error),
      });
      if (this.#isClosed) {
        session.close();
        return;
      }
      this.#onOpened(session);
    } catch (error) {
      this.fail(toAppError(error));
    }
  }

  #onOpened(session: ThreadSession): void {
    const { sessionId, attempt, opened } = session.opened;
    this.#session = session;
    this.#log = this.#log.child({ session_id: sessionId, attempt });
    this.#log.info({}, "transcription stream opened");
    this.#touch();
    this.#writer.write({ kind: "opened", bytes: opened });
    this.#call.resume();
  }

  #feed(session: ThreadSession, request: Buffer): void {
    this.#inFlight += 1;
    this.#pace();
    session.feed(request).then(
      ({ queuedSamples, finishing }) => {
        this.#inFlight -= 1;
        this.#queuedSamples = queuedSamples;
        this.#finishing ||= finishing;
        this.#pace();
        this.#endWhenAbandoned();
      },
      (error: unknown) => this.fail(toAppError(error)),
    );
  }

  #onBatch(batch: SessionBatch): void {
    if (this.#isClosed) return;
    this.#touch();
    this.#queuedSamples = batch.queuedSamples;
    for (const result of batch.results) this.#writer.write(result);
    if (batch.done) {
      this.#log.info({}, "transcription stream done");
      this.#close();
      this.#writer.end();
      return;
    }
    this.#pace();
  }

  /** Reads from the client only while the session has room. */
  #pace(): void {
    if (this.#isClosed || this.#session === undefined) return;
    const full = this.#inFlight >= MAX_IN_FLIGHT || this.#queuedSamples > MAX_QUEUED_SAMPLES;
    if (full && !this.#call.isPaused()) this.#call.pause();
    else if (!full && this.#call.isPaused()) this.#call.resume();
  }

  #onHalfClose(): void {
    this.#halfClosed = true;
    this.#endWhenAbandoned();
  }

  /**
   * Closes the call when the client half-closed it without Finish, which means that it was
   * abandoned.
   */
  #endWhenAbandoned(): void {
    if (!this.#halfClosed || this.#finishing || this.#inFlight > 0 || this.#isClosed) return;
    this.#close();
    this.#writer.end();
  }

  #touch(): void {
    this.#idle?.refresh();
  }

  #close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    clearTimeout(this.#idle);
    this.#session?.close();
    this.#onClosed();
  }
}
