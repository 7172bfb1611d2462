import type { HttpResponse } from "uWebSockets.js";
import { type Answer, renderAnswer, writeHead } from "./answer.ts";

/** Takes the bytes of a body as they come. */
export interface BodyConsumer {
  /** `chunk` is the consumer's own. */
  data(chunk: Buffer): void;
  end(): void;
  /** The caller went away half-way. */
  gone(): void;
}

/** Answered early, up to this much of a body is read and dropped, so that the connection lives on. */
const DROP_BYTES = 1024 * 1024;
/**
 * uWebSockets.js gives a body 10 s, and more only for a rate that a bad link
 * does not have; a pause and resume starts them again. So a connection ends
 * after 10 s without a byte, and our own limits bound the rest.
 */
const RENEW_MS = 3000;
/** Statuses whose answers have no body, and no Content-Length that would speak of one. */
const BODYLESS: ReadonlySet<number> = new Set([204, 304]);
const LINGER_MS = 500;
const LINGER_BYTES = 16 * 1024 * 1024;

/**
 * One request on its way: the only holder of uWebSockets.js's response, which
 * must not be touched after it ended or was aborted.
 *
 * The body waits, paused, until somebody asks for it.
 */
export class Exchange {
  readonly #res: HttpResponse;
  readonly #abort = new AbortController();
  #state: "open" | "lingering" | "ended" | "aborted" = "open";
  #consumer: BodyConsumer | undefined;
  #early: Buffer[] = [];
  /** Bytes of body still to come; infinite when it declares no length. */
  #bytesLeft = 0;
  #last = true;
  #held = false;
  #paused = false;
  #discarded = 0;
  #renewedAt = performance.now();
  #linger: NodeJS.Timeout | undefined;

  constructor(res: HttpResponse) {
    this.#res = res;
    res.onAborted(() => this.#aborted());
  }

  /** Aborted when the caller goes away before its answer. */
  get signal(): AbortSignal {
    return this.#abort.signal;
  }

  /** True when a body came or is on its way. */
  get hasBody(): boolean {
    return this.#held;
  }

  /** Holds back a body of `length` bytes (infinite: undeclared); only before anything was awaited. */
  holdBody(length: number): void {
    this.#bytesLeft = length;
    this.#last = false;
    this.#held = true;
    this.#res.onData((chunk, last) => this.#data(chunk, last));
    this.pause();
  }

  /** Starts the flow of a held body. */
  readBody(consumer: BodyConsumer): void {
    this.#consumer = consumer;
    if (this.#state === "aborted") return consumer.gone();
    for (const chunk of this.#early) consumer.data(chunk);
    this.#early = [];
    if (this.#last) consumer.end();
    else this.resume();
  }

  pause(): void {
    if (this.#state !== "open" || this.#paused || this.#last) return;
    this.#paused = true;
    this.#res.pause();
  }

  resume(): void {
    if (this.#state !== "open" || !this.#paused) return;
    this.#paused = false;
    this.#res.resume();
  }

  /** Ends the exchange; false when the caller is gone or was answered before. */
  send(answer: Answer, extra: Readonly<Record<string, string>>, head: boolean): boolean {
    if (this.#state !== "open") return false;
    if (!this.#last && this.#bytesLeft > DROP_BYTES) return this.#sendAndClose(answer, extra);
    const { headers, payload } = renderAnswer(answer, extra);
    this.resume();
    this.#state = "ended";
    this.#forget();
    this.#res.cork(() => {
      writeHead(this.#res, answer.status, headers);
      if (head) this.#res.endWithoutBody(payload === undefined ? 0 : Buffer.byteLength(payload));
      else if (payload === undefined && BODYLESS.has(answer.status)) this.#res.endWithoutBody();
      else this.#res.end(payload ?? "");
    });
    return true;
  }

  /**
   * Answers while a large body is still coming, and closes soon after: at
   * once, a client that is still writing would see a reset, not the answer.
   *
   * uWebSockets.js lets go of a response that it ended, so the whole answer is
   * written as one last header, whose line break is the last two bytes of the
   * body (white space in JSON); closing is then still ours.
   */
  #sendAndClose(answer: Answer, extra: Readonly<Record<string, string>>): boolean {
    const { headers, payload } = renderAnswer(answer, { ...extra, Connection: "close" });
    this.resume();
    this.#state = "lingering";
    this.#forget();
    const body = Buffer.from(payload ?? "");
    const length = `${body.byteLength + 2}\r\n\r\n`;
    this.#res.cork(() => {
      writeHead(this.#res, answer.status, headers);
      this.#res.writeHeader("Content-Length", Buffer.concat([Buffer.from(length), body]));
    });
    this.#linger = setTimeout(() => this.#endLingering(), LINGER_MS);
    return true;
  }

  #forget(): void {
    this.#consumer = undefined;
    this.#early = [];
  }

  #data(chunk: ArrayBuffer, last: boolean): void {
    this.#last ||= last;
    this.#bytesLeft = Math.max(0, this.#bytesLeft - chunk.byteLength);
    if (this.#state === "lingering") return this.#discard(chunk.byteLength);
    if (this.#state !== "open") return;
    this.#renew();
    // The memory is taken back when this returns.
    const copy = Buffer.from(chunk.slice(0));
    if (this.#consumer === undefined) {
      if (copy.byteLength > 0) this.#early.push(copy);
      return;
    }
    if (copy.byteLength > 0) this.#consumer.data(copy);
    if (last) this.#consumer?.end();
  }

  #renew(): void {
    const now = performance.now();
    if (this.#paused || this.#last || now - this.#renewedAt < RENEW_MS) return;
    this.#renewedAt = now;
    this.#res.pause();
    this.#res.resume();
  }

  #discard(bytes: number): void {
    this.#discarded += bytes;
    // Not from in here: the answer may still be corked, and closing would drop it.
    if (this.#last || this.#discarded > LINGER_BYTES) setImmediate(() => this.#endLingering());
  }

  #endLingering(): void {
    if (this.#state !== "lingering") return;
    clearTimeout(this.#linger);
    this.#state = "ended";
    this.#res.close();
  }

  #aborted(): void {
    clearTimeout(this.#linger);
    const waiting = this.#state === "open";
    this.#state = "aborted";
    if (!waiting) return;
    this.#abort.abort();
    const consumer = this.#consumer;
    this.#forget();
    consumer?.gone();
  }
}
