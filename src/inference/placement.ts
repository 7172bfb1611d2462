import { backOff } from "../base/back-off.ts";
import type { Runtime } from "../base/runtime.ts";
import type { WorkerAnnouncement } from "../wire/worker-announcement.ts";

const SILENCE_MS = 4_000;
const BACK_OFF = { firstMs: 250, mostMs: 5_000 };
/** A worker that lives was heard within this time: it announces itself every second. */
const GONE_MS = 2_500;
/** What is heard so soon may have been said before the process ended. */
const UNDER_WAY_MS = 200;
const POLL_MS = 50;
/** More workers than this are not remembered; a guard against a flood of announcements. */
const MAX_WORKERS = 1_000;

interface PlacementOptions {
  runtime: Runtime;
  /** Silence after which a worker is forgotten, in milliseconds. */
  silenceMs?: number;
}

/** What operators see of one worker. */
interface WorkerStatus extends WorkerAnnouncement {
  /** Milliseconds since it was last heard. */
  silent_ms: number;
  /** Milliseconds until it is tried again after failures; 0 when it may be. */
  back_off_ms: number;
  state: "available" | "full" | "draining" | "backing_off";
}

interface Known {
  announcement: WorkerAnnouncement;
  heardAt: number;
  /** Sessions placed here that its newest announcement may not count yet. */
  placed: number;
  pickedAt: number;
  failures: number;
  retryAt: number;
}

/** Which worker gets the next session: the least loaded of those that were heard lately. */
export class Placement {
  readonly #runtime: Runtime;
  readonly #silenceMs: number;
  readonly #workers = new Map<string, Known>();
  #picks = 0;

  constructor(options: PlacementOptions) {
    this.#runtime = options.runtime;
    this.#silenceMs = options.silenceMs ?? SILENCE_MS;
  }

  update(announcement: WorkerAnnouncement): void {
    this.#forgetSilent();
    const { address, worker_id } = announcement;
    const known = this.#workers.get(address);
    const isSame = known?.announcement.worker_id === worker_id;
    if (known === undefined && this.#workers.size >= MAX_WORKERS) return;
    for (const [other, { announcement: old }] of this.#workers) {
      if (other !== address && old.worker_id === worker_id) this.#workers.delete(other);
    }
    this.#workers.set(address, {
      announcement,
      heardAt: this.#runtime.monotonic(),
      placed: 0,
      pickedAt: isSame ? known.pickedAt : 0,
      failures: isSame ? known.failures : 0,
      retryAt: isSame ? known.retryAt : 0,
    });
  }

  /** The address of the least loaded worker, counted as placed there; undefined when none has room. */
  pick(): string | undefined {
    this.#forgetSilent();
    const [best] = [...this.#workers.values()]
      .filter((worker) => this.#stateOf(worker) === "available")
      .sort((a, b) => loadOf(a) - loadOf(b) || a.pickedAt - b.pickedAt);
    if (best === undefined) return undefined;
    this.#picks += 1;
    best.pickedAt = this.#picks;
    best.placed += 1;
    return best.announcement.address;
  }

  /**
   * The address of the least loaded worker for work on text, which takes no
   * session's place; undefined when none was heard lately.
   */
  pickForText(): string | undefined {
    this.#forgetSilent();
    const [best] = [...this.#workers.values()]
      .filter((worker) => ["available", "full"].includes(this.#stateOf(worker)))
      .sort((a, b) => loadOf(a) - loadOf(b) || a.pickedAt - b.pickedAt);
    if (best === undefined) return undefined;
    this.#picks += 1;
    best.pickedAt = this.#picks;
    return best.announcement.address;
  }

  /** A stream to the address failed for the worker's own reasons: leave it alone for a while. */
  failed(address: string): void {
    const worker = this.#workers.get(address);
    if (worker === undefined) return;
    worker.failures += 1;
    worker.retryAt = this.#runtime.monotonic() + backOff(worker.failures, BACK_OFF);
  }

  /** A stream to the address was opened: failures before it count no more. */
  succeeded(address: string): void {
    const worker = this.#workers.get(address);
    if (worker === undefined) return;
    worker.failures = 0;
    worker.retryAt = 0;
  }

  /** The process behind an address, as it names itself; undefined when it was not heard lately. */
  instanceAt(address: string): string | undefined {
    const announcement = this.#workers.get(address)?.announcement;
    return announcement?.instance ?? announcement?.worker_id;
  }

  /**
   * Whether a worker's process ended, asked right after a connection to it broke:
   * one that lives is heard again within about a second, whatever the network did.
   */
  async isGone(address: string, instance: string | undefined): Promise<boolean> {
    const since = this.#runtime.monotonic();
    while (this.#runtime.monotonic() - since < GONE_MS) {
      await this.#runtime.delay(POLL_MS);
      const known = this.#workers.get(address);
      if (known === undefined || known.heardAt < since + UNDER_WAY_MS) continue;
      return this.instanceAt(address) !== instance;
    }
    return true;
  }

  /** Every worker heard lately, by id. */
  status(): WorkerStatus[] {
    this.#forgetSilent();
    const now = this.#runtime.monotonic();
    return [...this.#workers.values()]
      .map((worker) => ({
        ...worker.announcement,
        silent_ms: Math.round(now - worker.heardAt),
        back_off_ms: Math.max(0, Math.round(worker.retryAt - now)),
        state: this.#stateOf(worker),
      }))
      .sort((a, b) => (a.worker_id < b.worker_id ? -1 : 1));
  }

  #stateOf(worker: Known): WorkerStatus["state"] {
    const { draining, capacity, sessions } = worker.announcement;
    if (draining) return "draining";
    if (worker.retryAt > this.#runtime.monotonic()) return "backing_off";
    return sessions + worker.placed >= capacity ? "full" : "available";
  }

  #forgetSilent(): void {
    const oldest = this.#runtime.monotonic() - this.#silenceMs;
    for (const [address, { heardAt }] of this.#workers) {
      if (heardAt < oldest) this.#workers.delete(address);
    }
  }
}

function loadOf({ announcement, placed }: Known): number {
  return (announcement.sessions + placed) / announcement.capacity;
}
