import type { HttpResponse } from "uWebSockets.js";
import { withTimeout } from "../../base/deferred.ts";
import type { BodyStream, EventStream } from "../../rest/route.ts";
import {
  type Answer,
  BodyWriter,
  type Head,
  type Payload,
  renderAnswer,
  writeHead,
} from "./response.ts";
import { TextWriter } from "./text-writer.ts";

/** Receives the bytes of a body as they come. */
interface BodyConsumer {
  /** Takes a chunk, whose memory belongs to the consumer. */
  data(chunk: Buffer): void;
  end(): void;
  /** The caller disconnected before the end of the body. */
  gone(): void;
}

/**
 * After an early answer up to this many bytes of a body are read and dropped, so that the
 * connection can be reused.
 */
const DROP_BYTES = 1024 * 1024;
/**
 * uWebSockets.js allows 10 s for a body, and more only at a rate that bad links do not reach;
 * pausing and resuming restarts this time. We do so every `RENEW_MS`: a connection ends after 10 s
 * without a byte, and our own limits bound the rest.
 */
const RENEW_MS = 3000;
/**
 * A body up to this size is buffered before it is requested: most come in the same packet as their
 * head.
 */
const EARLY_BYTES = 16 * 1024;
/**
 * A client that is still writing when it is refused reads the answer only after its last byte.
 * Until then its bytes are dropped, for as long as they keep coming.
 */
const LINGER_IDLE_MS = 2_000;
const LINGER_MS = 30_000;
const LINGER_BYTES = 256 * 1024 * 1024;

/** Longest time for one text of an answer whose length nobody knows, milliseconds. */
const TEXT_MS = 30_000;

interface Writer<T> {
  /** False when the caller has disconnected. */
  write(part: T): Promise<boolean>;
}

interface StreamLimits {
  /** A client that reads nothing for this long loses its connection. */
  stallMs: number;
  /** Lowest rate at which a client takes a part, beyond the first `stallMs`. */
  bytesPerSecond: number;
  /** Longest time for one part from the source, milliseconds. */
  sourceMs: number;
}

/**
 * One request being served. This is the only holder of uWebSockets.js's response, which must not be
 * touched after it ended or was aborted.
 *
 * The body stays paused until it is read.
 */
export class Exchange {
  readonly #res: HttpResponse;
  readonly #id: string;
  /** Created when the signal is first used. */
  #abort: AbortController | undefined;
  #state: "open" | "streaming" | "lingering" | "ended" | "aborted" = "open";
  #writer: BodyWriter | TextWriter | undefined;
  #consumer: BodyConsumer | undefined;
  #early: Buffer[] | undefined;
  /** Number of body bytes still to come; infinite when no length was declared. */
  #bytesLeft = 0;
  #last = true;
  #chunked = false;
  #held = false;
  #paused = false;
  #discarded = 0;
  #renewedAt: number;
  #linger: NodeJS.Timeout | undefined;
  #lingerUntil = 0;
  /** Renews the time that uWebSockets.js allows, while an answer is made to a body that has come. */
  #renewal: NodeJS.Timeout | undefined;

  /**
   * @param id is sent with the answer
   * @param now monotonic milliseconds
   */
  constructor(res: HttpResponse, id: string, now: number) {
    this.#res = res;
    this.#id = id;
    this.#renewedAt = now;
    res.onAborted(() => this.#aborted());
  }

  /** Aborted when the caller disconnects before its answer. */
  get signal(): AbortSignal {
    this.#abort ??= new AbortController();
    if (this.#state === "aborted") this.#abort.abort();
    return this.#abort.signal;
  }

  /** True when the request has a body. */
  get hasBody(): boolean {
    return this.#held;
  }

  /**
   * Pauses a body of `length` bytes (infinite when undeclared). Must be called before anything is
   * awaited.
   */
  holdBody(length: number): void {
    this.#bytesLeft = length;
    this.#chunked = !Number.isFinite(length);
    this.#last = false;
    this.#held = true;
    this.#res.onData((chunk, last) => this.#data(chunk, last));
    if (length > EARLY_BYTES) this.pause();
  }

  /** Starts reading a paused body. */
  readBody(consumer: BodyConsumer): void {
    this.#consumer = consumer;
    if (this.#state === "aborted") return consumer.gone();
    for (const chunk of this.#early ?? []) consumer.data(chunk);
    this.#early = undefined;
    if (this.#last) consumer.end();
    // A connection that stays paused does not hear its caller go, also when all has come already.
    this.resume();
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
    if (this.#last) this.#keepAlive();
  }

  /**
   * With `resume` uWebSockets.js allows 10 s again until the next byte of the request. None comes
   * once the body is whole, and what is written does not count: so the time is renewed until the
   * exchange has ended.
   */
  #keepAlive(): void {
    this.#renewal ??= setInterval(() => {
      // Its source may still be at work, but uWebSockets.js has given the response up.
      if (this.#writer?.complete === true) return this.#letEnd();
      this.#res.pause();
      this.#res.resume();
    }, RENEW_MS).unref();
  }

  #letEnd(): void {
    clearInterval(this.#renewal);
    this.#renewal = undefined;
  }

  /**
   * Ends the exchange; false when the caller has disconnected or was answered before. With `head`
   * the body's headers are sent without the body; with `close` the connection ends after the
   * answer, and with `abandon` also when the rest of the request's body is still to come.
   */
  send(
    answer: Answer,
    extra: Readonly<Record<string, string>>,
    { head, close, abandon = false }: { head: boolean; close: boolean; abandon?: boolean },
  ): boolean {
    if (this.#state !== "open") return false;
    const { head: headers, payload } = renderAnswer(answer, extra);
    const { status } = answer;
    const bodiless = isBodiless(status);
    if (head || bodiless) {
      const length = bodiless ? undefined : Buffer.byteLength(payload ?? "");
      return this.#sendHead(status, headers, length, close);
    }
    if (this.#isFarFromLast() && !abandon) {
      return this.#sendAndClose(status, headers, payload ?? "");
    }
    this.#end();
    this.#res.cork(() => {
      writeHead(this.#res, status, this.#id, headers);
      this.#res.end(payload ?? "", close);
    });
    return true;
  }

  /**
   * Sends an answer whose body is produced while it is sent. Resolves with false when the caller
   * disconnected before its end. Rejects when the source fails: before its first part nothing was
   * sent and another answer is possible; after it the connection is closed, so that the caller
   * notices the missing bytes.
   */
  async stream(
    answer: Answer,
    body: BodyStream,
    extra: Readonly<Record<string, string>>,
    limits: StreamLimits,
  ): Promise<boolean> {
    if (this.#state !== "open") return false;
    const parts = body.open(this.signal)[Symbol.asyncIterator]();
    return this.#pass(parts, limits.sourceMs, {
      begin: () => this.#begin(answer, extra, new BodyWriter(this.#res, body.length, limits)),
      finish(writer) {
        if (!writer.complete) throw new Error("The source gave fewer bytes than it announced.");
      },
    });
  }

  /** Sends an answer whose text comes about while it is sent, as `stream` does. */
  async sendEvents(
    answer: Answer,
    events: EventStream,
    extra: Readonly<Record<string, string>>,
    { stallMs }: { stallMs: number },
  ): Promise<boolean> {
    if (this.#state !== "open") return false;
    const texts = events.open(this.signal)[Symbol.asyncIterator]();
    return this.#pass(texts, TEXT_MS, {
      begin: () => this.#begin(answer, extra, new TextWriter(this.#res, stallMs)),
      finish: (writer) => writer.end(),
    });
  }

  async #pass<T, W extends Writer<T>>(
    parts: AsyncIterator<T>,
    longestMs: number,
    { begin, finish }: { begin(): W; finish(writer: W): void },
  ): Promise<boolean> {
    const next = () => withTimeout(parts.next(), longestMs, "Reading the answer's body");
    try {
      const first = await next();
      if (this.#state !== "open") return false;
      const writer = begin();
      for (let part = first; part.done !== true; part = await next()) {
        if (!(await writer.write(part.value))) return false;
      }
      if (this.#isGone()) return false;
      this.#letEnd();
      finish(writer);
      this.#state = "ended";
      return true;
    } catch (error) {
      if (this.#isGone()) return false;
      if (this.#isStreaming()) {
        this.#letEnd();
        this.#res.close();
      }
      throw error;
    } finally {
      // Not awaited, because a source that hangs must not delay the exchange.
      void Promise.resolve(parts.return?.()).catch(() => {});
    }
  }

  /** Sends only the head of a streamed answer, for HEAD. */
  sendStreamHead(
    answer: Answer,
    body: BodyStream,
    extra: Readonly<Record<string, string>>,
    { close }: { close: boolean },
  ): boolean {
    if (this.#state !== "open") return false;
    const { head } = renderAnswer(answer, extra);
    return this.#sendHead(answer.status, head, body.length, close);
  }

  /**
   * Sends an answer without a body. If uWebSockets.js knew the length it would wait for the bytes,
   * and if told to close it would write a length; so the head is written without either.
   */
  #sendHead(status: number, head: Head, length: number | undefined, close: boolean): boolean {
    if (close || this.#isFarFromLast()) return this.#sendAndClose(status, head, undefined, length);
    this.#end();
    this.#res.cork(() => {
      writeHead(this.#res, status, this.#id, head);
      if (length !== undefined) this.#res.writeHeader("Content-Length", String(length));
      this.#res.endWithoutBody();
    });
    return true;
  }

  /** True when too many bytes of the request's body are still to come to keep the connection. */
  #isFarFromLast(): boolean {
    return !this.#last && this.#bytesLeft > DROP_BYTES;
  }

  #end(): void {
    this.resume();
    this.#state = "ended";
    this.#letEnd();
    this.#forget();
  }

  #begin<W extends BodyWriter | TextWriter>(
    answer: Answer,
    extra: Readonly<Record<string, string>>,
    writer: W,
  ): W {
    const { head } = renderAnswer(answer, extra);
    this.resume();
    this.#state = "streaming";
    this.#forget();
    this.#writer = writer;
    this.#res.cork(() => writeHead(this.#res, answer.status, this.#id, head));
    return writer;
  }

  // Methods, because the state changes during awaits, which type narrowing would ignore.
  #isGone(): boolean {
    return this.#state === "aborted";
  }

  #isStreaming(): boolean {
    return this.#state === "streaming" && this.#writer?.complete !== true;
  }

  /**
   * Answers, and closes the connection soon after. If it closed at once, a client that is still
   * writing would see a reset instead of the answer.
   *
   * uWebSockets.js gives up a response that it has ended. So the whole answer is written as one
   * last header, whose line break is the last two bytes of the body (white space in JSON) or of the
   * head; then the response can still be closed here.
   */
  #sendAndClose(status: number, head: Head, body: Payload, length?: number): boolean {
    this.resume();
    this.#letEnd();
    this.#state = "lingering";
    this.#forget();
    this.#res.cork(() => {
      writeHead(this.#res, status, this.#id, head);
      if (length !== undefined) this.#res.writeHeader("Content-Length", String(length));
      if (body === undefined) this.#res.writeHeader("Connection", "close\r\n");
      else {
        this.#res.writeHeader("Connection", "close");
        this.#res.writeHeader("Content-Length", lastHeader(Buffer.from(body)));
      }
    });
    // Not called directly: the answer may still be corked, and closing would drop it.
    if (this.#last) setImmediate(() => this.#endLingering());
    this.#lingerUntil = performance.now() + LINGER_MS;
    this.#linger = setTimeout(() => this.#endLingering(), LINGER_IDLE_MS);
    return true;
  }

  #forget(): void {
    this.#consumer = undefined;
    this.#early = undefined;
  }

  #data(chunk: ArrayBuffer, last: boolean): void {
    this.#last ||= last;
    // Nothing more comes that could be too much; but the caller may go, and be heard.
    if (last && this.#state === "open") {
      this.resume();
      this.#keepAlive();
    }
    this.#bytesLeft = Math.max(0, this.#bytesLeft - chunk.byteLength);
    if (this.#state === "lingering") return this.#discard(chunk.byteLength);
    if (this.#state !== "open") return;
    this.#renew();
    // uWebSockets.js reuses the chunk's memory after this call.
    const copy = Buffer.from(new Uint8Array(chunk));
    if (this.#consumer === undefined) {
      if (copy.byteLength === 0) return;
      this.#early ??= [];
      this.#early.push(copy);
      return;
    }
    if (copy.byteLength > 0) this.#consumer.data(copy);
    if (last) this.#ended();
  }

  /**
   * Tells the consumer of the end. That of a body in chunks is told once the whole packet was
   * parsed: a request behind it is then refused with the connection, not served.
   */
  #ended(): void {
    if (this.#chunked) setImmediate(() => this.#consumer?.end());
    else this.#consumer?.end();
  }

  #renew(): void {
    const now = performance.now();
    if (this.#paused || this.#last || now - this.#renewedAt < RENEW_MS) return;
    this.#renewedAt = now;
    this.#res.pause();
    this.#res.resume();
  }

  #discard(bytes: number): void {
    this.#renew();
    this.#linger?.refresh();
    this.#discarded += bytes;
    const tooMuch = this.#discarded > LINGER_BYTES || performance.now() > this.#lingerUntil;
    if (this.#last || tooMuch) setImmediate(() => this.#endLingering());
  }

  #endLingering(): void {
    if (this.#state !== "lingering") return;
    clearTimeout(this.#linger);
    this.#state = "ended";
    this.#res.close();
  }

  #aborted(): void {
    clearTimeout(this.#linger);
    this.#letEnd();
    const waiting = this.#state === "open" || this.#state === "streaming";
    this.#state = "aborted";
    if (!waiting) return;
    this.#abort?.abort();
    this.#writer?.gone();
    const consumer = this.#consumer;
    this.#forget();
    consumer?.gone();
  }
}

/**
 * The body's length, the end of the head and the body up to the following line break, as one header
 * value.
 */
function lastHeader(body: Buffer): Buffer {
  return Buffer.concat([Buffer.from(`${body.byteLength + 2}\r\n\r\n`), body]);
}

function isBodiless(status: number): boolean {
  return status === 204 || status === 304;
}
