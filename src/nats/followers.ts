import type { Runtime, Timer } from "../base/runtime.ts";
import { decodeJson, encodeJson } from "../wire/envelope.ts";
import { FOLLOWED } from "../wire/subjects.ts";
import type { Line } from "./line.ts";

/** What is followed is told again, milliseconds: a message may get lost. */
const TELL_MS = 10_000;
const FORGET_MS = 3 * TELL_MS;
/** Sessions of one message, some 200 kB. */
const TOGETHER = 5_000;
/** Beyond that nothing is kept in mind any more, and all sessions count as followed. */
const MOST = 200_000;

interface Told {
  sessions: readonly string[];
  /** Of one who has just come, or was cut off: whoever follows anything tells so now. */
  isAsking?: boolean;
}

/**
 * Which sessions anybody follows, in any process, so that what is shown and not kept is told of
 * those only. Followers tell at once and again now and then; one whose word got lost is shown
 * nothing but durable events until then.
 */
export class Followers {
  readonly #line: Line;
  readonly #runtime: Runtime;
  readonly #own: () => Iterable<string>;
  readonly #until = new Map<string, number>();
  #again: Timer | undefined;
  #sweptAt = 0;

  /** @param own sessions that this process follows */
  constructor(line: Line, runtime: Runtime, own: () => Iterable<string>) {
    this.#line = line;
    this.#runtime = runtime;
    this.#own = own;
    line.subscribe(FOLLOWED, (data) => this.#hear(decodeJson(data)));
    line.onBack(() => this.#tell([...own()], true));
    this.#tell([], true);
  }

  /** This process follows the session from now on, as `own` says. */
  add(sessionId: string): void {
    this.#tell([sessionId]);
    this.#again ??= this.#runtime.every(TELL_MS, () => this.#tellAll());
  }

  /** This process follows nothing any more. */
  rest(): void {
    this.#again?.cancel();
    this.#again = undefined;
  }

  has(sessionId: string): boolean {
    if (this.#until.size >= MOST) return true;
    return (this.#until.get(sessionId) ?? 0) > this.#runtime.monotonic();
  }

  #tellAll(): void {
    const own = [...this.#own()];
    for (let n = 0; n < own.length; n += TOGETHER) this.#tell(own.slice(n, n + TOGETHER));
  }

  #tell(sessions: readonly string[], isAsking = false): void {
    const told: Told = { sessions, ...(isAsking && { isAsking }) };
    this.#line.publish(FOLLOWED, encodeJson(told));
  }

  #hear(told: unknown): void {
    const { sessions, isAsking } = (told ?? {}) as Partial<Told>;
    if (!Array.isArray(sessions)) return;
    const now = this.#runtime.monotonic();
    this.#sweep(now);
    for (const id of sessions) {
      if (this.#until.size < MOST && typeof id === "string") this.#until.set(id, now + FORGET_MS);
    }
    if (isAsking === true) this.#tellAll();
  }

  #sweep(now: number): void {
    if (now - this.#sweptAt < TELL_MS) return;
    this.#sweptAt = now;
    for (const [id, until] of this.#until) if (until <= now) this.#until.delete(id);
  }
}
