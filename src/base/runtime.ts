import { type Clock, systemClock } from "./clock.ts";
import { newId } from "./ids.ts";

/** A timer that was set; it holds the process up as long as it stands. */
export interface Timer {
  cancel(): void;
  /** Its time begins anew. Does nothing once it was cancelled. */
  refresh(): void;
}

/**
 * Everything by which what lives long depends on its surroundings and not on
 * what it is told: time, timers, chance and new names. As a port, so that
 * a simulation owns all of it.
 */
export interface Runtime extends Clock {
  /** Once, after `ms`. */
  after(ms: number, work: () => void): Timer;
  /** Again and again, every `ms`. */
  every(ms: number, work: () => void): Timer;
  /** After what is in hand, before any timer. */
  soon(work: () => void): Pick<Timer, "cancel">;
  /** Waits `ms`, or less when `signal` aborts; never rejects. */
  delay(ms: number, signal?: AbortSignal): Promise<void>;
  /** From 0 to below 1. */
  random(): number;
  /** A new UUIDv7 in lower case. */
  newId(): string;
}

/** `Runtime.delay` by `Runtime.after`. */
export function delayBy(
  timers: Pick<Runtime, "after">,
  ms: number,
  signal?: AbortSignal,
): Promise<void> {
  if (signal?.aborted) return Promise.resolve();
  return new Promise((resolve) => {
    const timer = timers.after(ms, done);
    function done(): void {
      timer.cancel();
      signal?.removeEventListener("abort", done);
      resolve();
    }
    signal?.addEventListener("abort", done, { once: true });
  });
}

function toTimer(timeout: NodeJS.Timeout): Timer {
  return {
    cancel: () => clearTimeout(timeout),
    refresh: () => {
      timeout.refresh();
    },
  };
}

/** The machine's own. */
export const systemRuntime: Runtime = {
  ...systemClock,
  after: (ms, work) => toTimer(setTimeout(work, ms)),
  every: (ms, work) => toTimer(setInterval(work, ms)),
  soon(work) {
    const immediate = setImmediate(work);
    return { cancel: () => clearImmediate(immediate) };
  },
  delay: (ms, signal) => delayBy(systemRuntime, ms, signal),
  random: () => Math.random(),
  newId: () => newId(),
};
