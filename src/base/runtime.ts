import { type Clock, systemClock } from "./clock.ts";
import { newId } from "./ids.ts";

/** A timer; the process does not exit while it is set. */
export interface Timer {
  cancel(): void;
  /** Starts the time anew. Does nothing after `cancel`. */
  refresh(): void;
}

/**
 * The surroundings of long-lived parts: time, timers, randomness and new ids. A simulation replaces
 * all of it.
 */
export interface Runtime extends Clock {
  /** Calls `work` once, after `ms`. */
  after(ms: number, work: () => void): Timer;
  /** Calls `work` every `ms`. */
  every(ms: number, work: () => void): Timer;
  /** Calls `work` after the current task, before any timer. */
  soon(work: () => void): Pick<Timer, "cancel">;
  /** Waits `ms`, or less when `signal` aborts; never rejects. */
  delay(ms: number, signal?: AbortSignal): Promise<void>;
  /** A random number from 0 to below 1. */
  random(): number;
  /** A new UUIDv7 in lower case. */
  newId(): string;
}

/** Implements `Runtime.delay` with `Runtime.after`. */
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

/** The runtime of the machine. */
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
