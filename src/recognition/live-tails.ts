import { longest, type QueueFigures, type QueueOwner } from "../base/queue-metrics.ts";
import type { AudioSource } from "./audio-source.ts";
import { FETCH, type LiveAudioFeed, LiveTail, MAX_PIECES } from "./live-tail.ts";

/** The tails of the sessions of this process. */
export class LiveTails implements QueueOwner {
  readonly #feed: LiveAudioFeed;
  readonly #source: Pick<AudioSource, "pieces">;
  readonly #tails = new Set<LiveTail>();

  constructor(feed: LiveAudioFeed, source: Pick<AudioSource, "pieces">) {
    this.#feed = feed;
    this.#source = source;
  }

  /** One page of the store may stand before the pieces that were told. */
  get queues(): readonly QueueFigures[] {
    const length = longest([...this.#tails].map(({ kept }) => kept));
    return [{ queue: "stream_pieces_held", length, limit: MAX_PIECES + FETCH, refused: 0 }];
  }

  /** To be given back with `close`. */
  open(sessionId: string): LiveTail {
    const tail = new LiveTail(sessionId, this.#feed, this.#source);
    this.#tails.add(tail);
    return tail;
  }

  close(tail: LiveTail): void {
    tail.stop();
    this.#tails.delete(tail);
  }
}
