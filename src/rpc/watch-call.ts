import type { ServerWritableStream } from "@grpc/grpc-js";
import type { Principal } from "../auth/principal.ts";
import { withTimeout } from "../base/deferred.ts";
import { AppError, toAppError, unknownThing } from "../base/errors.ts";
import { isId } from "../base/ids.ts";
import type { Log } from "../base/log.ts";
import type { EncodedFrame } from "../live/encoded-frame.ts";
import type { Feeds } from "../live/feed-registry.ts";
import type { ViewerPolicy } from "../live/live-source.ts";
import { type FrameSink, Subscriber } from "../live/subscriber.ts";
import type { WatchTranscriptRequest } from "../wire/gen/voice/v1/sessions.ts";
import { EventWriter } from "./event-writer.ts";
import { failStream } from "./fail-stream.ts";
import type { OpenStream } from "./open-streams.ts";
import type { RpcLimits } from "./rpc-limits.ts";
import { StandingCheck } from "./standing-check.ts";
import { logFailure } from "./unary-call.ts";

export type WatchStream = ServerWritableStream<Buffer, Uint8Array>;

export interface WatchCallOptions {
  call: WatchStream;
  request: WatchTranscriptRequest;
  principal: Principal;
  policy: ViewerPolicy;
  feeds: Feeds;
  limits: RpcLimits;
  log: Log;
  /** The client read too slowly; the stream has ended. */
  onTooSlow(): void;
}

/** One WatchTranscript stream whose caller is known: open, then ended, once. */
export class WatchCall implements FrameSink, OpenStream {
  readonly #options: WatchCallOptions;
  readonly #writer: EventWriter;
  #subscriber: Subscriber | undefined;
  readonly #standing: StandingCheck;
  #open = true;

  constructor(options: WatchCallOptions) {
    this.#options = options;
    const { call, limits } = options;
    this.#writer = new EventWriter({ call, inFlightBytes: limits.inFlightBytes });
    this.#standing = new StandingCheck({
      check: () => this.#check(true),
      everyMs: limits.recheckMs,
      timeoutMs: limits.readTimeoutMs,
      onLost: (error) => this.end(error),
    });
  }

  get principal(): Principal {
    return this.#options.principal;
  }

  /** Bytes that wait for the client. */
  get waitingBytes(): number {
    return this.#writer.waitingBytes;
  }

  /** Resolves when it is live or has ended; never rejects. */
  async start(): Promise<void> {
    const { request, feeds, limits } = this.#options;
    const { sessionId, fromSeq } = request;
    try {
      const checked = this.#check(false);
      const { ended } = await withTimeout(checked, limits.readTimeoutMs, "Checking your rights");
      if (!this.#open) return;
      const feed = feeds.acquire(sessionId);
      this.#subscriber = new Subscriber(feed, this);
      this.#standing.start();
      await this.#subscriber.start(fromSeq, ended);
    } catch (error) {
      this.end(toAppError(error));
    }
  }

  recheck(): Promise<void> {
    return this.#standing.now();
  }

  async #check(again: boolean): ReturnType<ViewerPolicy["check"]> {
    const { policy, principal, request } = this.#options;
    if (!isId(request.sessionId)) throw unknownThing("session", request.sessionId);
    return policy.check(principal, request.sessionId, again);
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

  /** Ends the stream with this error, once; what waits is not sent. */
  end(error: AppError): void {
    if (!this.#open) return;
    this.closed();
    const { call, log } = this.#options;
    logFailure(log, call.getPath(), error);
    failStream(call, error);
  }

  /** The transport is gone. */
  closed(): void {
    if (!this.#open) return;
    this.#open = false;
    this.#standing.stop();
    this.#writer.close();
    if (this.#subscriber === undefined) return;
    this.#subscriber.stop();
    this.#options.feeds.release(this.#options.request.sessionId);
  }
}
