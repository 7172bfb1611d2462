import { longest, type QueueFigures, type QueueOwner } from "../base/queue-metrics.ts";
import { MAX_TRANSIENT } from "./frames.ts";
import { type FeedOptions, MAX_HELD, SessionFeed } from "./session-feed.ts";

/**
 * Most bytes of frames that all feeds keep for returning followers; a follower that finds none
 * reads the journal.
 */
const RECENT_BYTES = 64 * 1024 * 1024;

/** The feeds of this process: one for each session that is followed here. */
export class FeedRegistry implements QueueOwner {
  readonly #options: Omit<FeedOptions, "sessionId">;
  readonly #feeds = new Map<string, { feed: SessionFeed; users: number }>();

  constructor(options: Omit<FeedOptions, "sessionId">) {
    this.#options = options;
  }

  get size(): number {
    return this.#feeds.size;
  }

  get queues(): readonly QueueFigures[] {
    const feeds = [...this.#feeds.values()].map(({ feed }) => feed);
    const held = longest(feeds.map((feed) => feed.held));
    const kept = feeds.reduce((bytes, feed) => bytes + feed.recentBytes, 0);
    const passing = longest(feeds.map((feed) => feed.transient));
    return [
      { queue: "live_frames_held", length: held, limit: MAX_HELD, refused: 0 },
      { queue: "live_frames_kept_bytes", length: kept, limit: RECENT_BYTES, refused: 0 },
      { queue: "live_tick_frames", length: passing, limit: MAX_TRANSIENT, refused: 0 },
    ];
  }

  acquire(sessionId: string): SessionFeed {
    const known = this.#feeds.get(sessionId);
    if (known !== undefined) {
      known.users += 1;
      return known.feed;
    }
    const room = (): number => RECENT_BYTES / this.#feeds.size;
    const feed = new SessionFeed({ ...this.#options, sessionId, room });
    this.#feeds.set(sessionId, { feed, users: 1 });
    feed.start();
    return feed;
  }

  /** Must be called once for each `acquire`. */
  release(sessionId: string): void {
    const entry = this.#feeds.get(sessionId);
    if (entry === undefined) return;
    entry.users -= 1;
    if (entry.users > 0) return;
    this.#feeds.delete(sessionId);
    entry.feed.close();
  }
}
