import type { Runtime, Timer } from "../base/runtime.ts";
import { decodeJson, encodeJson } from "../wire/envelope.ts";
import type { PublishedFrame } from "../wire/live-frames.ts";
import { FOLLOWED, liveSubject } from "../wire/subjects.ts";
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

/** Announcements are repeated at this interval, because messages may be lost; milliseconds. */
const ANNOUNCE_MS = 10_000;
const FORGET_MS = 3 * ANNOUNCE_MS;
/** Most sessions in one message, about 200 kB. */
const TOGETHER = 5_000;
/** Beyond this number no more sessions are stored, and all count as followed. */
const MOST = 200_000;

interface Announced {
  sessions: readonly string[];
  /**
   * Set by a process that has just started or reconnected: the others then announce what they
   * follow.
   */
  isAsking?: boolean;
}

/**
 * Knows which sessions are followed in any process, so that hypotheses and other transient frames
 * are published for those only. Processes announce what they follow at once and repeat it
 * periodically; if an announcement is lost, the process gets only durable events until the next
 * one.
 */
class Followers {
  readonly #bus: MessageBus;
  readonly #runtime: Runtime;
  readonly #own: () => Iterable<string>;
  readonly #until = new Map<string, number>();
  #again: Timer | undefined;
  #sweptAt = 0;

  /** @param own returns the sessions that this process follows */
  constructor(bus: MessageBus, runtime: Runtime, own: () => Iterable<string>) {
    this.#bus = bus;
    this.#runtime = runtime;
    this.#own = own;
    bus.subscribe(FOLLOWED, (data) => this.#hear(decodeJson(data)));
    bus.onBack(() => this.#notify([...own()], true));
    this.#notify([], true);
  }

  /** Announces that this process follows the session; `own` must include it. */
  add(sessionId: string): void {
    this.#notify([sessionId]);
    this.#again ??= this.#runtime.every(ANNOUNCE_MS, () => this.#announceAll());
  }

  /** Stops the announcements, when this process follows nothing any more. */
  rest(): void {
    this.#again?.cancel();
    this.#again = undefined;
  }

  has(sessionId: string): boolean {
    if (this.#until.size >= MOST) return true;
    return (this.#until.get(sessionId) ?? 0) > this.#runtime.monotonic();
  }

  #announceAll(): void {
    const own = [...this.#own()];
    for (let n = 0; n < own.length; n += TOGETHER) this.#notify(own.slice(n, n + TOGETHER));
  }

  #notify(sessions: readonly string[], isAsking = false): void {
    const told: Announced = { sessions, ...(isAsking && { isAsking }) };
    this.#bus.publish(FOLLOWED, encodeJson(told));
  }

  #hear(told: unknown): void {
    const { sessions, isAsking } = (told ?? {}) as Partial<Announced>;
    if (!Array.isArray(sessions)) return;
    const now = this.#runtime.monotonic();
    this.#sweep(now);
    for (const id of sessions) {
      if (this.#until.size < MOST && typeof id === "string") this.#until.set(id, now + FORGET_MS);
    }
    if (isAsking === true) this.#announceAll();
  }

  #sweep(now: number): void {
    if (now - this.#sweptAt < ANNOUNCE_MS) return;
    this.#sweptAt = now;
    for (const [id, until] of this.#until) if (until <= now) this.#until.delete(id);
  }
}
