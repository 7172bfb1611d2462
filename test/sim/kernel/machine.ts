import { delayBy, type Runtime, type Timer } from "../../../src/base/runtime.ts";
import { SeededRandom } from "../../support/seeded-random.ts";
import type { Kernel, Planned } from "./kernel.ts";

/** Unix milliseconds at which every simulation begins. */
export const BEGINNING = Date.UTC(2026, 0, 1);

/**
 * A machine on which a process runs: its own clock, which may be wrong, and its
 * own timers. While it is paused nothing happens there and time goes on; when
 * it is dead nothing happens there any more.
 */
export class Machine implements Runtime {
  readonly name: string;
  readonly kernel: Kernel;
  /** By how much its wall clock is wrong, milliseconds. */
  skew = 0;
  readonly #random: SeededRandom;
  readonly #started: number;
  #isDead = false;
  #isPaused = false;
  #held: (() => void)[] = [];

  constructor(name: string, kernel: Kernel) {
    this.name = name;
    this.kernel = kernel;
    this.#random = new SeededRandom(kernel.random.below(2 ** 31));
    this.#started = kernel.now;
  }

  get isDead(): boolean {
    return this.#isDead;
  }

  get isPaused(): boolean {
    return this.#isPaused;
  }

  now(): number {
    return Math.floor(BEGINNING + this.kernel.now + this.skew);
  }

  monotonic(): number {
    return this.kernel.now - this.#started + 1_000;
  }

  random(): number {
    return this.#random.next();
  }

  newId(): string {
    const hex = (digits: number) =>
      Math.floor(this.#random.next() * 16 ** digits)
        .toString(16)
        .padStart(digits, "0");
    const time = this.now().toString(16).padStart(12, "0");
    return `${time.slice(0, 8)}-${time.slice(8)}-7${hex(3)}-8${hex(3)}-${hex(6)}${hex(6)}`;
  }

  after(ms: number, work: () => void): Timer {
    let planned: Planned | undefined;
    let isOff = false;
    const fire = (): void => {
      if (!isOff) work();
    };
    const set = () => {
      // Timers are never early, and as late as the machine is busy.
      planned = this.kernel.plan(ms + this.#random.next(), () => this.enter(fire));
    };
    set();
    return {
      cancel: () => {
        isOff = true;
        planned?.cancel();
      },
      refresh: () => {
        if (isOff) return;
        planned?.cancel();
        set();
      },
    };
  }

  every(ms: number, work: () => void): Timer {
    const timer = this.after(ms, () => {
      timer.refresh();
      work();
    });
    return timer;
  }

  soon(work: () => void): Pick<Timer, "cancel"> {
    return this.kernel.plan(this.#random.next() * 0.05, () => this.enter(work));
  }

  delay(ms: number, signal?: AbortSignal): Promise<void> {
    return delayBy(this, ms, signal);
  }

  /** Whatever reaches the machine from outside. */
  enter(work: () => void): void {
    if (this.#isDead) return;
    if (this.#isPaused) this.#held.push(work);
    else work();
  }

  /** It stands still, and goes on after `ms` where it was. */
  pause(ms: number): void {
    if (this.#isPaused || this.#isDead) return;
    this.#isPaused = true;
    this.kernel.plan(ms, () => this.#catchUp());
  }

  /** What came meanwhile goes first, in its order. */
  #catchUp(): void {
    const next = this.#held.shift();
    if (next === undefined) {
      this.#isPaused = false;
      return;
    }
    this.kernel.plan(0.01, () => this.#catchUp());
    next();
  }

  kill(): void {
    this.#isDead = true;
    this.#held = [];
  }
}
