import type { Clock } from "../../src/base/clock.ts";
import { type Runtime, systemRuntime } from "../../src/base/runtime.ts";

/** Stands still until told otherwise. */
export class ManualClock implements Clock {
  #now: number;

  constructor(now = Date.UTC(2026, 0, 1)) {
    this.#now = now;
  }

  now(): number {
    return this.#now;
  }

  monotonic(): number {
    return this.#now;
  }

  advance(ms: number): void {
    this.#now += ms;
  }
}

/** The machine's timers and chance under another clock. */
export function runtimeBy(clock: Clock): Runtime {
  return { ...systemRuntime, now: () => clock.now(), monotonic: () => clock.monotonic() };
}
