import type { Runtime } from "../base/runtime.ts";
import { decodeJson, encodeJson } from "../wire/envelope.ts";
import type { PublishedFrame } from "../wire/live-frames.ts";
import { liveSubject } from "../wire/subjects.ts";
import { Followers } from "./followers.ts";
import type { MessageBus } from "./message-bus.ts";

interface Listener {
  onFrames(frames: PublishedFrame[]): void;
  onDoubt?: (() => void) | undefined;
}

interface Followed {
  listeners: Set<Listener>;
  unsubscribe(): void;
}

/**
 * Sends frames of sessions from their actor to every front, at most once: a front that misses some
 * sees the gap in `seq` and reads the journal.
 */
export class LiveFanout {
  readonly #bus: MessageBus;
  readonly #runtime: Runtime;
  readonly #followed = new Map<string, Followed>();
  readonly #followers: Followers;

  constructor(bus: MessageBus, runtime: Runtime) {
    this.#bus = bus;
    this.#runtime = runtime;
    this.#followers = new Followers(bus, runtime, () => this.#followed.keys());
    bus.onBack(() => this.#doubtAfterBreak());
  }

  /** Whether any process follows the session, as far as this one knows. */
  isFollowed(sessionId: string): boolean {
    return this.#followed.has(sessionId) || this.#followers.has(sessionId);
  }

  /** Publishes frames; they are dropped when the bus is closed. */
  publish(sessionId: string, frames: readonly PublishedFrame[]): void {
    if (frames.length > 0) this.#bus.publish(liveSubject(sessionId), encodeJson(frames));
  }

  /**
   * Receives the frames of a session. Listeners of one session share a subscription in each
   * process. `onDoubt` is called when the server has the subscription, and each time it is restored
   * after a break: only frames published from then on are certain to come. Returns a function that
   * stops it.
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
    const unsubscribe = this.#bus.subscribe(liveSubject(sessionId), (data) => {
      const frames = decodeJson(data);
      if (!Array.isArray(frames)) return;
      for (const listener of listeners) listener.onFrames(frames as PublishedFrame[]);
    });
    const followed = { listeners, unsubscribe };
    this.#followed.set(sessionId, followed);
    this.#followers.add(sessionId);
    return followed;
  }

  /**
   * Calls `onDoubt` once the subscription is in place. If a break comes first, `onDoubt` is called
   * after it.
   */
  async #doubtWhenStanding({ listeners }: Followed, listener: Listener): Promise<void> {
    const stands = await this.#bus.flush().then(
      () => true,
      () => false,
    );
    if (stands && listeners.has(listener)) listener.onDoubt?.();
  }

  #doubtAfterBreak(): void {
    const all = [...this.#followed.values()];
    for (const followed of all) {
      for (const listener of followed.listeners) {
        // Spreads the listeners at one per millisecond, so that they do not all read the journal at
        // once.
        const wait = this.#runtime.random() * all.length;
        void this.#runtime.delay(wait).then(() => this.#doubtWhenStanding(followed, listener));
      }
    }
  }
}
