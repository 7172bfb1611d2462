import { type Authenticator, endsCaller } from "../../access/authenticator.ts";
import type { Principal } from "../../access/principal.ts";
import { askAgain, type RightHolder } from "../../access/rights-watch.ts";
import type { Clock } from "../../base/clock.ts";
import { createDeferred, withTimeout } from "../../base/deferred.ts";
import { AppError, toAppError, unknownThing } from "../../base/errors.ts";
import { isId } from "../../base/ids.ts";
import type { Log } from "../../base/log.ts";
import type { FeedRegistry } from "../../live/feed-registry.ts";
import { type EncodedFrame, encodeFrame } from "../../live/frames.ts";
import type { ViewerPolicy } from "../../live/live-source.ts";
import { type FrameSink, Subscriber, type ViewerPosition } from "../../live/subscriber.ts";
import { CLOSE, type CloseCode } from "../../wire/close-codes.ts";
import type { SubscribeFrame, ViewerFrame } from "../../wire/viewer-frames.ts";
import type { FrontObserver } from "../server/observer.ts";
import { closeCodeOf } from "../server/problem.ts";
import { callerFields } from "../server/request-log.ts";
import { parseViewerFrame } from "./frame-parser.ts";
import type { LiveLimits } from "./live-limits.ts";
import type { ReplayBudget } from "./replay-budget.ts";
import type { UwsConnection } from "./uws-connection.ts";

/** The transport below a socket's protocol. */
export type Connection = Pick<UwsConnection<unknown>, "send" | "bufferedBytes" | "close">;

/** Dependencies that all live sockets share. */
export interface LiveSocketOptions {
  authenticator: Pick<Authenticator, "revalidate">;
  policy: ViewerPolicy;
  feeds: Pick<FeedRegistry, "acquire" | "release">;
  limits: LiveLimits;
  replays: Pick<ReplayBudget, "turn">;
  observer?: FrontObserver | undefined;
  clock: Pick<Clock, "now">;
  log: Log;
}

interface Subscription {
  sessionId: string;
  /** Undefined until the caller's right was checked. */
  subscriber: Subscriber | undefined;
  /** When that right ends, if it ends before the caller's own; Unix milliseconds. */
  rightUntil: number | undefined;
}

const NONE: readonly Subscription[] = [];

/**
 * An authenticated viewer's socket, which is open and then closed once. The viewer's frames come in
 * through `message`; everything that ends the socket calls `close`.
 */
export class LiveSocket implements FrameSink, RightHolder {
  readonly #options: LiveSocketOptions;
  readonly #connection: Connection;
  readonly #reader: string;
  #principal: Principal;
  /**
   * A list, because there are few subscriptions, mostly one: it takes a fifth of the memory of a
   * map.
   */
  #subscriptions: readonly Subscription[] = NONE;
  #roomWaiters: (() => void)[] | undefined;
  #open = true;
  #badFrames = 0;

  /** @param reader who pays for its replays */
  constructor(
    options: LiveSocketOptions,
    connection: Connection,
    principal: Principal,
    reader: string,
  ) {
    this.#options = options;
    this.#connection = connection;
    this.#principal = principal;
    this.#reader = reader;
  }

  get principal(): Principal {
    return this.#principal;
  }

  /** Number of bytes that the viewer has not received yet. */
  get buffered(): number {
    return this.#open ? this.#connection.bufferedBytes() : 0;
  }

  #find(sessionId: string): Subscription | undefined {
    return this.#subscriptions.find((each) => each.sessionId === sessionId);
  }

  follows(sessionId: string): boolean {
    return this.#find(sessionId) !== undefined;
  }

  /** Takes a frame of the viewer; `bytes` is not used after the call returns. */
  message(bytes: Buffer, isBinary: boolean): void {
    if (!this.#open) return;
    if (bytes.byteLength > this.#options.limits.frameBytes) {
      return this.close(CLOSE.tooLarge, "The frame is too large.");
    }
    try {
      if (isBinary) throw new AppError("bad_request", "A viewer sends text frames only.");
      this.#obey(parseViewerFrame(bytes));
    } catch (error) {
      this.#refuseFrame(toAppError(error));
    }
  }

  #obey(frame: ViewerFrame): void {
    if (frame.type === "Unsubscribe") this.#unsubscribe(frame.session_id);
    if (frame.type === "Subscribe") this.#subscribe(frame.session_id, positionIn(frame));
  }

  #refuseFrame(error: AppError): void {
    this.#badFrames += 1;
    this.#sendError(error, undefined);
    if (this.#badFrames >= this.#options.limits.badFrames) {
      this.close(CLOSE.protocol, "Too many malformed frames.");
    }
  }

  #subscribe(sessionId: string, from: ViewerPosition | undefined): void {
    this.#unsubscribe(sessionId);
    if (this.#subscriptions.length >= this.#options.limits.subscriptionsPerSocket) {
      throw new AppError("bad_request", "This socket follows as many sessions as it may.");
    }
    const subscription: Subscription = {
      sessionId,
      subscriber: undefined,
      rightUntil: undefined,
    };
    // Spreading would reserve room for more entries.
    this.#subscriptions = this.#subscriptions.concat(subscription);
    this.#begin(sessionId, subscription, from).catch((error: unknown) => {
      if (this.#find(sessionId) !== subscription) return;
      this.#endSubscription(sessionId, toAppError(error));
    });
  }

  async #begin(
    sessionId: string,
    subscription: Subscription,
    from: ViewerPosition | undefined,
  ): Promise<void> {
    const { ended, until } = await this.#check(sessionId, false);
    if (this.#find(sessionId) !== subscription) return;
    subscription.rightUntil = this.#sooner(until);
    // What is recent comes without another page, so this one stands for it.
    const isOver = () => !this.#open || this.#find(sessionId) !== subscription;
    if (!(await this.#options.replays.turn(this.#reader, isOver))) return;
    const feed = this.#options.feeds.acquire(sessionId);
    // Replaces the id from the viewer's frame, so that the frame's text can be freed.
    subscription.sessionId = feed.sessionId;
    subscription.subscriber = new Subscriber(feed, this);
    await subscription.subscriber.start(from, ended);
    const who = { route: "live", ...callerFields(this.#principal), session_id: sessionId };
    this.#options.log.info(who, "viewer follows");
  }

  async #check(sessionId: string, again: boolean): ReturnType<ViewerPolicy["check"]> {
    if (!isId(sessionId)) throw unknownThing("session", sessionId);
    const check = this.#options.policy.check(this.#principal, sessionId, again);
    return withTimeout(check, this.#options.limits.readTimeoutMs, "Checking your rights");
  }

  #unsubscribe(sessionId: string): void {
    const subscription = this.#find(sessionId);
    if (subscription === undefined) return;
    this.#subscriptions = this.#subscriptions.filter((each) => each !== subscription);
    if (subscription.subscriber === undefined) return;
    subscription.subscriber.stop();
    this.#options.feeds.release(sessionId);
  }

  /** Ends a subscription with its reason, and closes a socket that has no other. */
  #endSubscription(sessionId: string, error: AppError): void {
    this.#unsubscribe(sessionId);
    if (!this.#open) return;
    if (error.status >= 500) {
      this.#options.log.warn({ session_id: sessionId, code: error.code }, "subscription failed");
    }
    this.#sendError(error, sessionId);
    if (endsCaller(error) || this.#subscriptions.length === 0)
      this.close(closeCodeOf(error), error.message);
  }

  get rightUntil(): number {
    let until = this.#principal.expiresAt;
    for (const { rightUntil = until } of this.#subscriptions) until = Math.min(until, rightUntil);
    return until;
  }

  #sooner(until: number): number | undefined {
    return until < this.#principal.expiresAt ? until : undefined;
  }

  /** Checks again who calls and whether every followed session may still be followed. */
  async recheck(): Promise<boolean> {
    let isAnswered = await this.#revalidate();
    for (const subscription of this.#subscriptions) {
      isAnswered = (await this.#recheckSession(subscription)) && isAnswered;
    }
    return isAnswered || !this.#open;
  }

  async #revalidate(): Promise<boolean> {
    const { authenticator, limits } = this.#options;
    try {
      const valid = authenticator.revalidate(this.#principal);
      this.#principal = await withTimeout(valid, limits.readTimeoutMs, "Checking who you are");
      return true;
    } catch (error) {
      const failure = toAppError(error);
      const isOut = endsCaller(failure);
      if (isOut) this.close(CLOSE.auth, failure.message);
      return isOut;
    }
  }

  async #recheckSession(subscription: Subscription): Promise<boolean> {
    const { sessionId } = subscription;
    const isOver = () => !this.#open || this.#find(sessionId) !== subscription;
    if (isOver()) return true;
    return askAgain(
      async () => {
        subscription.rightUntil = this.#sooner((await this.#check(sessionId, true)).until);
      },
      () => (subscription.rightUntil ?? this.#principal.expiresAt) > this.#options.clock.now(),
      (error) => {
        if (!isOver()) this.#endSubscription(sessionId, error);
      },
    );
  }

  #sendError(error: AppError, sessionId: string | undefined): void {
    const { code, message, retryable } = error;
    this.send([encodeFrame({ type: "Error", session_id: sessionId, code, message, retryable })]);
  }

  send(frames: readonly EncodedFrame[]): boolean {
    if (!this.#open) return false;
    const { limits, observer } = this.#options;
    const connection = this.#connection;
    const hasRoom = connection.bufferedBytes() <= limits.bufferedBytes;
    if (hasRoom && connection.send(frames)) {
      observer?.sent(frames.length);
      return true;
    }
    this.close(CLOSE.tooSlow, "You cannot keep up; resume with from_seq.");
    return false;
  }

  async roomForPage(): Promise<boolean> {
    const { limits, replays } = this.#options;
    if (!(await replays.turn(this.#reader, () => !this.#open))) return false;
    const connection = this.#connection;
    if (!this.#open || connection.bufferedBytes() <= limits.bufferedBytes / 4) return this.#open;
    const room = createDeferred<void>();
    this.#roomWaiters ??= [];
    this.#roomWaiters.push(() => room.resolve());
    try {
      await withTimeout(room.promise, limits.drainTimeoutMs, "Waiting for the viewer");
    } catch {
      this.close(CLOSE.tooSlow, "You cannot keep up; resume with from_seq.");
    }
    return this.#open;
  }

  /** The transport has written some of the waiting bytes. */
  drained(): void {
    if (this.#open && this.#connection.bufferedBytes() > this.#options.limits.bufferedBytes / 4)
      return;
    this.#wakeWaiters();
  }

  #wakeWaiters(): void {
    const waiters = this.#roomWaiters ?? [];
    this.#roomWaiters = undefined;
    for (const wake of waiters) wake();
  }

  close(code: CloseCode, reason: string): void {
    if (!this.#open) return;
    this.closed();
    this.#options.observer?.closed(code);
    this.#connection.close(code, reason);
  }

  /** The connection was lost. */
  closed(): void {
    this.#open = false;
    for (const { sessionId } of this.#subscriptions) this.#unsubscribe(sessionId);
    this.#wakeWaiters();
  }
}

/** The newest durable event that a Subscribe names; undefined for a Snapshot first. */
function positionIn({ from_seq: seq, from_at: at }: SubscribeFrame): ViewerPosition | undefined {
  if (seq === undefined) return undefined;
  return { seq, at: at === undefined ? undefined : Date.parse(at) };
}
