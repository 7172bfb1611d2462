import type { ServerWritableStream } from "@grpc/grpc-js";
import type { Principal } from "../access/principal.ts";
import { askAgain } from "../access/rights-watch.ts";
import type { Clock } from "../base/clock.ts";
import { withTimeout } from "../base/deferred.ts";
import { AppError, toAppError, unknownThing } from "../base/errors.ts";
import { isId } from "../base/ids.ts";
import type { Log } from "../base/log.ts";
import type { FeedRegistry } from "../live/feed-registry.ts";
import type { EncodedFrame } from "../live/frames.ts";
import type { ViewerPolicy } from "../live/live-source.ts";
import { type FrameSink, Subscriber } from "../live/subscriber.ts";
import type { WatchTranscriptRequest } from "../wire/gen/voice/v1/sessions.ts";
import type { SessionEnd } from "../wire/live-frames.ts";
import { failStream, type RpcLimits } from "./call-admission.ts";
import { EventWriter } from "./event-writer.ts";
import type { OpenStream } from "./open-streams.ts";
import { logFailure } from "./unary-call.ts";

export type WatchStream = ServerWritableStream<Buffer, Uint8Array>;

interface WatchCallOptions {
  call: WatchStream;
  request: WatchTranscriptRequest;
  principal: Principal;
  policy: ViewerPolicy;
  feeds: Pick<FeedRegistry, "acquire" | "release">;
  limits: RpcLimits;
  clock: Pick<Clock, "now">;
  log: Log;
  /** Called when the stream was ended because the client read too slowly. */
  onTooSlow(): void;
}

/** One WatchTranscript stream of an authenticated caller: it is open and then ended once. */
export class WatchCall implements FrameSink, OpenStream {
  readonly #options: WatchCallOptions;
  readonly #writer: EventWriter;
  #subscriber: Subscriber | undefined;
  #rightUntil: number;
  #open = true;

  constructor(options: WatchCallOptions) {
    this.#options = options;
    const { call, limits } = options;
    this.#writer = new EventWriter({ call, inFlightBytes: limits.inFlightBytes });
    this.#rightUntil = options.principal.expiresAt;
  }

  get principal(): Principal {
    return this.#options.principal;
  }

  /** Number of bytes that wait for the client. */
  get waitingBytes(): number {
    return this.#writer.waitingBytes;
  }

  /** Resolves when the stream is live or has ended; never rejects. */
  async start(): Promise<void> {
    const { request, feeds } = this.#options;
    const { sessionId, fromSeq, fromAtMs } = request;
    try {
      const ended = await this.#check(false);
      if (!this.#open) return;
      const feed = feeds.acquire(sessionId);
      this.#subscriber = new Subscriber(feed, this);
      const from = fromSeq === undefined ? undefined : { seq: fromSeq, at: fromAtMs };
      await this.#subscriber.start(from, ended);
    } catch (error) {
      this.end(toAppError(error));
    }
  }

  get rightUntil(): number {
    return this.#rightUntil;
  }

  follows(sessionId: string): boolean {
    return this.#options.request.sessionId === sessionId;
  }

  async recheck(): Promise<boolean> {
    if (!this.#open) return true;
    return askAgain(
      async () => void (await this.#check(true)),
      () => this.#rightUntil > this.#options.clock.now(),
      (error) => this.end(error),
    );
  }

  /** Checks the caller's right. Returns how the session ended, if it has. */
  async #check(again: boolean): Promise<SessionEnd | undefined> {
    const { policy, principal, request, limits } = this.#options;
    if (!isId(request.sessionId)) throw unknownThing("session", request.sessionId);
    const checked = policy.check(principal, request.sessionId, again);
    const right = await withTimeout(checked, limits.readTimeoutMs, "Checking your rights");
    this.#rightUntil = right.until;
    return right.ended;
  }

  send(frames: readonly EncodedFrame[]): boolean {
    if (!this.#open) return false;
    const { limits, request } = this.#options;
    if (this.#writer.waitingBytes > limits.waitingBytes) {
      this.#endSlow();
      return false;
    }
    this.#writer.write(request.durableOnly ? frames.filter((each) => !each.transient) : frames);
    return true;
  }

  async roomForPage(): Promise<boolean> {
    const { limits } = this.#options;
    const room = this.#writer.waitUntilBelow(limits.waitingBytes / 4);
    try {
      await withTimeout(room, limits.drainTimeoutMs, "Waiting for the client");
    } catch {
      this.#endSlow();
    }
    return this.#open;
  }

  #endSlow(): void {
    if (!this.#open) return;
    this.#options.onTooSlow();
    const sent = this.#writer.sentSeq;
    const last = sent === undefined ? "" : ` (${sent} was the last one sent)`;
    const message = `You read too slowly. Watch again with from_seq = the seq of the last event that arrived${last}.`;
    this.end(new AppError("slow_down", message));
  }

  /** Ends the stream with this error, once; buffered events are not sent. */
  end(error: AppError): void {
    if (!this.#open) return;
    this.closed();
    const { call, log } = this.#options;
    logFailure(log, call.getPath(), error);
    failStream(call, error);
  }

  /** The connection was lost. */
  closed(): void {
    if (!this.#open) return;
    this.#open = false;
    this.#writer.close();
    if (this.#subscriber === undefined) return;
    this.#subscriber.stop();
    this.#options.feeds.release(this.#options.request.sessionId);
  }
}
