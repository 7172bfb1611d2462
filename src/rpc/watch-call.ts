import type { ServerWritableStream } from "@grpc/grpc-js";
import type { Principal } from "../auth/principal.ts";
import { withTimeout } from "../base/deferred.ts";
import { AppError, toAppError } from "../base/errors.ts";
import { isId } from "../base/ids.ts";
import type { Log } from "../base/log.ts";
import type { EncodedFrame } from "../live/encoded-frame.ts";
import type { Feeds } from "../live/feed-registry.ts";
import type { ViewerPolicy } from "../live/live-source.ts";
import { type FrameSink, Subscriber } from "../live/subscriber.ts";
import type { WatchTranscriptRequest } from "../wire/gen/voice/v1/sessions.ts";
import { toGrpcFailure } from "../wire/grpc-status.ts";
import { EventWriter } from "./event-writer.ts";
import type { RpcLimits } from "./rpc-limits.ts";
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
export class WatchCall implements FrameSink {
  readonly #options: WatchCallOptions;
  readonly #writer: EventWriter;
  #subscriber: Subscriber | undefined;
  #timer: NodeJS.Timeout | undefined;
  #open = true;
  #checking = false;

  constructor(options: WatchCallOptions) {
    this.#options = options;
    const { call, limits } = options;
    this.#writer = new EventWriter({ call, inFlightBytes: limits.inFlightBytes });
  }

  get principal(): Principal {
    return this.#options.principal;
  }

  /** Resolves when it is live or has ended; never rejects. */
  async start(): Promise<void> {
    const { request, feeds, limits } = this.#options;
    const { sessionId, fromSeq } = request;
    try {
      await this.#check(false);
      if (!this.#open) return;
      this.#subscriber = new Subscriber(sessionId, feeds.acquire(sessionId), this);
      this.#timer = setInterval(() => void this.recheck(), limits.recheckMs);
      await this.#subscriber.start(fromSeq);
    } catch (error) {
      this.end(toAppError(error));
    }
  }

  /** Asks again whether the caller may go on watching. */
  async recheck(): Promise<void> {
    if (this.#checking || !this.#open) return;
    this.#checking = true;
    try {
      await this.#check(true);
    } catch (thrown) {
      const error = toAppError(thrown);
      // A check that could not be made takes nobody's right away.
      if (error.status < 500) this.end(error);
    } finally {
      this.#checking = false;
    }
  }

  async #check(again: boolean): Promise<void> {
    const { policy, principal, request, limits } = this.#options;
    if (!isId(request.sessionId)) throw new AppError("not_found", "There is no such session.");
    const check = policy.check(principal, request.sessionId, again);
    await withTimeout(check, limits.readTimeoutMs, "Checking your rights");
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
    clearInterval(this.#timer);
    this.#writer.close();
    if (this.#subscriber === undefined) return;
    this.#subscriber.stop();
    this.#options.feeds.release(this.#options.request.sessionId);
  }
}

/** The documented way in grpc-js to end a streaming call with a status of one's own. */
export function failStream(
  call: { emit(event: "error", error: Error): boolean },
  error: AppError,
): void {
  call.emit("error", Object.assign(new Error(error.message), toGrpcFailure(error)));
}
