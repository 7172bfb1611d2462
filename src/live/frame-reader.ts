import { createDeferred, type Deferred, delay } from "../base/deferred.ts";
import { AppError, toAppError } from "../base/errors.ts";
import type { ServerFrame, SessionEnd } from "../wire/live-frames.ts";
import type { FeedRegistry } from "./feed-registry.ts";
import type { EncodedFrame } from "./frames.ts";
import type { SessionFeed } from "./session-feed.ts";
import type { FrameReader, SessionFrames } from "./session-frames.ts";
import { type FrameSink, Subscriber } from "./subscriber.ts";

/** From this many waiting frames on hints are dropped, and the record is not read further. */
const MANY = 256;
/** With more the reader is behind, and reads the record when it has taken these. */
const MOST = 1_024;

/** Reads the frames of sessions within this process, as a follower. */
export class FrameReaders implements SessionFrames {
  readonly #feeds: Pick<FeedRegistry, "acquire" | "release">;

  constructor(feeds: Pick<FeedRegistry, "acquire" | "release">) {
    this.#feeds = feeds;
  }

  follow(sessionId: string): FrameReader {
    const feed = this.#feeds.acquire(sessionId);
    return new FollowingReader(feed, () => this.#feeds.release(sessionId));
  }
}

class FollowingReader implements FrameReader, FrameSink {
  readonly #feed: SessionFeed;
  readonly #release: () => void;
  #subscriber: Subscriber;
  #frames: ServerFrame[] = [];
  #position = 0;
  #end: SessionEnd | undefined;
  #isBehind = false;
  #failure: AppError | undefined;
  #isOpen = true;
  #came: Deferred<void> = createDeferred();
  #hasRoom: Deferred<void> | undefined;

  constructor(feed: SessionFeed, release: () => void) {
    this.#feed = feed;
    this.#release = release;
    this.#subscriber = this.#subscribe();
  }

  #subscribe(): Subscriber {
    const subscriber = new Subscriber(this.#feed, this);
    subscriber.start({ seq: this.#position }, this.#end).catch((error: unknown) => {
      this.#failure ??= toAppError(error);
      this.#came.resolve();
    });
    return subscriber;
  }

  async next(ms: number): Promise<readonly ServerFrame[]> {
    if (this.#frames.length === 0) await this.#wait(ms);
    const frames = this.#frames;
    this.#frames = [];
    this.#hasRoom?.resolve();
    this.#hasRoom = undefined;
    if (frames.length === 0 && this.#failure !== undefined) throw this.#failure;
    if (this.#isBehind) {
      this.#isBehind = false;
      this.#subscriber = this.#subscribe();
    }
    return frames;
  }

  async #wait(ms: number): Promise<void> {
    if (this.#failure !== undefined) return;
    this.#came = createDeferred();
    const waiting = new AbortController();
    await Promise.race([this.#came.promise, delay(ms, waiting.signal)]);
    waiting.abort();
  }

  send(encoded: readonly EncodedFrame[]): boolean {
    if (!this.#isOpen) return false;
    if (this.#frames.length >= MOST) {
      this.#isBehind = true;
      return false;
    }
    for (const { transient, seq, status, bytes } of encoded) {
      if (transient && this.#frames.length >= MANY) continue;
      this.#frames.push(JSON.parse(Buffer.from(bytes).toString("utf8")) as ServerFrame);
      if (seq !== undefined) this.#position = seq;
      if (status === "completed" || status === "failed") this.#end = status;
      if (status === "deleted") {
        this.#failure ??= new AppError("session_deleted", "The session was deleted.");
      }
    }
    this.#came.resolve();
    return true;
  }

  async roomForPage(): Promise<boolean> {
    while (this.#isOpen && this.#frames.length >= MANY) {
      this.#hasRoom ??= createDeferred();
      await this.#hasRoom.promise;
    }
    return this.#isOpen;
  }

  close(): void {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    this.#hasRoom?.resolve();
    this.#came.resolve();
    this.#subscriber.stop();
    this.#release();
  }
}
