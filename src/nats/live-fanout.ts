import type { Runtime } from "../base/runtime.ts";
import { decodeJson, encodeJson } from "../wire/envelope.ts";
import type { PublishedFrame } from "../wire/live-frames.ts";
import { liveSubject } from "../wire/subjects.ts";
import { Followers } from "./followers.ts";
import type { Line } from "./line.ts";

interface Listener {
  onFrames(frames: PublishedFrame[]): void;
  onDoubt?: (() => void) | undefined;
}

interface Followed {
  listeners: Set<Listener>;
  unsubscribe(): void;
}

/**
 * Frames of sessions from their actor to every front. At most once: a front
 * that misses some sees the gap in `seq` and reads the journal.
 */
export class LiveFanout {
  readonly #line: Line;
  readonly #runtime: Runtime;
  readonly #followed = new Map<string, Followed>();
  readonly #followers: Followers;

  constructor(line: Line, runtime: Runtime) {
    this.#line = line;
    this.#runtime = runtime;
    this.#followers = new Followers(line, runtime, () => this.#followed.keys());
    line.onBack(() => this.#doubtAfterBreak());
  }

  /** Whether anybody follows the session, as far as is known here. */
  isFollowed(sessionId: string): boolean {
    return this.#followed.has(sessionId) || this.#followers.has(sessionId);
  }

  /** Drops the frames when the bus is closed. */
  publish(sessionId: string, frames: readonly PublishedFrame[]): void {
    if (frames.length > 0) this.#line.publish(liveSubject(sessionId), encodeJson(frames));
  }

  /**
   * One subscription per session and process, however many listeners. `onDoubt` is called when the
   * server has the subscription, and each time it has it again: only what is published from then
   * on comes for certain. Returns how to stop.
   */
  follow(
    sessionId: string,
    onFrames: (frames: PublishedFrame[]) => void,
    onDoubt?: () => void,
  ): () => void {
    const followed = this.#followed.get(sessionId) ?? this.#subscribe(sessionId);
    const listener: Listener = { onFrames, onDoubt };
    followed.listeners.add(listener);
    if (onDoubt !== undefined) void this.#doubtWhenStanding(followed, listener);
    return () => {
      followed.listeners.delete(listener);
      if (followed.listeners.size > 0 || this.#followed.get(sessionId) !== followed) return;
      this.#followed.delete(sessionId);
      if (this.#followed.size === 0) this.#followers.rest();
      followed.unsubscribe();
    };
  }

  #subscribe(sessionId: string): Followed {
    const listeners = new Set<Listener>();
    const unsubscribe = this.#line.subscribe(liveSubject(sessionId), (data) => {
      const frames = decodeJson(data);
      if (!Array.isArray(frames)) return;
      for (const listener of listeners) listener.onFrames(frames as PublishedFrame[]);
    });
    const followed = { listeners, unsubscribe };
    this.#followed.set(sessionId, followed);
    this.#followers.add(sessionId);
    return followed;
  }

  /** A break ends the wait: what follows it asks again. */
  async #doubtWhenStanding({ listeners }: Followed, listener: Listener): Promise<void> {
    const stands = await this.#line.flush().then(
      () => true,
      () => false,
    );
    if (stands && listeners.has(listener)) listener.onDoubt?.();
  }

  #doubtAfterBreak(): void {
    const all = [...this.#followed.values()];
    for (const followed of all) {
      for (const listener of followed.listeners) {
        // One each millisecond, or all of them would read the journal at one moment.
        const wait = this.#runtime.random() * all.length;
        void this.#runtime.delay(wait).then(() => this.#doubtWhenStanding(followed, listener));
      }
    }
  }
}
