import type { Runtime, Timer } from "../base/runtime.ts";
import { decodeJson, encodeJson } from "../wire/envelope.ts";
import { FOLLOWED } from "../wire/subjects.ts";
import type { MessageBus } from "./message-bus.ts";

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
export class Followers {
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
