import { backOff } from "../base/back-off.ts";
import { AppError } from "../base/errors.ts";
import type { SessionEnd, SessionStatus } from "../wire/live-frames.ts";
import type { EncodedFrame } from "./frames.ts";
import type { FeedListener, SessionFeed } from "./session-feed.ts";

/** The newest durable event that a viewer has. */
export interface ViewerPosition {
  /** 0: none yet. */
  seq: number;
  /** When it happened, milliseconds since 1970, if the viewer says so. */
  at?: number | undefined;
}

/** Port: a subscriber's socket. */
export interface FrameSink {
  /** Sends all frames in one write; false when the socket is closed, or closes because of this. */
  send(frames: readonly EncodedFrame[]): boolean;
  /** Resolves when the socket has room for a page; false when it is closed. */
  roomForPage(): Promise<boolean>;
}

const MAX_EMPTY_READS = 6;
const EMPTY_READ_WAITS = { firstMs: 40 };

/**
 * One viewer of one session. It reads the journal until the feed's recent frames reach back to its
 * position, then takes the feed's frames as they come: every durable one after its start, once and
 * in order. When the session is over and all of it was sent, SessionEnded follows, once.
 */
export class Subscriber implements FeedListener {
  readonly #feed: SessionFeed;
  readonly #sink: FrameSink;
  #state: "catching_up" | "live" | "stopped" = "catching_up";
  /** Seq of the last durable frame that was sent. */
  #position = 0;
  /** How the session ended, if the viewer must still be notified; "notified" afterwards. */
  #end: SessionEnd | "notified" | undefined;

  constructor(feed: SessionFeed, sink: FrameSink) {
    this.#feed = feed;
    this.#sink = sink;
  }

  /**
   * Resolves when the subscriber is live or stopped; rejects with the error that kept it from
   * catching up. `end` is how the session has ended, if it has: a viewer may begin after that
   * event.
   */
  async start(from: ViewerPosition | undefined, end?: SessionEnd): Promise<void> {
    this.#end = end;
    this.#feed.add(this);
    if (from === undefined) await this.#sendSnapshot();
    else if (await this.#isUnknown(from)) await this.#sendCorrection();
    else this.#position = from.seq;
    await this.#catchUp();
  }

  stop(): void {
    this.#state = "stopped";
    this.#feed.remove(this);
  }

  /** Takes the feed's newest frames, in order. */
  deliver(frames: readonly EncodedFrame[]): void {
    if (this.#state !== "live") return;
    this.#send(this.#hasStale(frames) ? this.#fresh(frames) : frames);
  }

  #hasStale(frames: readonly EncodedFrame[]): boolean {
    for (const { seq } of frames) if (seq !== undefined && seq <= this.#position) return true;
    return false;
  }

  #fresh(frames: readonly EncodedFrame[]): EncodedFrame[] {
    return frames.filter(({ seq }) => seq === undefined || seq > this.#position);
  }

  #send(frames: readonly EncodedFrame[]): void {
    if (this.#stopped()) return;
    for (const { seq, status } of frames) {
      if (seq !== undefined) this.#position = seq;
      if (status !== undefined) this.#heed(status);
    }
    const ended = this.#takeEnd();
    const all = ended === undefined ? frames : [...frames, ended];
    if (all.length > 0 && !this.#sink.send(all)) this.stop();
  }

  #heed(status: SessionStatus): void {
    if (this.#end === "notified") return;
    this.#end = status === "completed" || status === "failed" ? status : undefined;
  }

  /** The SessionEnded frame, when the viewer has received all known durable events. */
  #takeEnd(): EncodedFrame | undefined {
    const end = this.#end;
    if (end === undefined || end === "notified" || this.#state !== "live") return undefined;
    if (this.#position < this.#feed.newest) return undefined;
    this.#end = "notified";
    return this.#feed.ended(end, this.#position);
  }

  async #sendSnapshot(fresh = false): Promise<void> {
    const { seq, encoded } = await this.#feed.snapshot(fresh);
    this.#send([encoded]);
    this.#position = seq;
  }

  async #sendCorrection(): Promise<void> {
    const message = "The session does not have that event: a snapshot follows instead.";
    const { seq, encoded } = await this.#feed.snapshot(true);
    const warning = this.#feed.encode({
      type: "Warning",
      session_id: this.#feed.sessionId,
      code: "position_unknown",
      message,
      retryable: false,
    });
    this.#send([warning, encoded]);
    this.#position = seq;
  }

  /**
   * True when the session does not have the viewer's newest event: it has not come so far, or the
   * database was restored from before that event, and another one has its seq now.
   */
  async #isUnknown({ seq, at }: ViewerPosition): Promise<boolean> {
    if (seq === 0) return false;
    if (await this.#isBeyondNewest(seq)) return true;
    return at !== undefined && (await this.#feed.timeOf(seq)) !== at;
  }

  /** Reads the journal only when the feed does not know. */
  async #isBeyondNewest(fromSeq: number): Promise<boolean> {
    if (fromSeq <= (this.#feed.head ?? -1)) return false;
    const page = await this.#feed.replay(fromSeq);
    if (page.length > 0) return false;
    return (await this.#feed.snapshot(true)).seq < fromSeq;
  }

  async #catchUp(): Promise<void> {
    let emptyReads = 0;
    while (!this.#stopped()) {
      const recent = this.#feed.since(this.#position);
      if (recent !== undefined) return this.#goLive(recent);
      if (!(await this.#sink.roomForPage())) return this.stop();
      const page = await this.#feed.replay(this.#position);
      this.#send(page);
      if (page.length > 0) continue;
      if (this.#feed.head === undefined) {
        this.#feed.establish(this.#position);
        continue;
      }
      emptyReads += 1;
      if (emptyReads > MAX_EMPTY_READS) {
        throw new AppError("unavailable", "The session's events cannot be read right now.");
      }
      await this.#feed.delay(backOff(emptyReads, EMPTY_READ_WAITS));
    }
  }

  #goLive(recent: readonly EncodedFrame[]): void {
    if (this.#stopped()) return;
    this.#state = "live";
    this.#send(recent);
  }

  #stopped(): boolean {
    return this.#state === "stopped";
  }
}
