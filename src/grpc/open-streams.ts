import type { Principal } from "../access/principal.ts";
import type { RevocationFeed } from "../access/revocations.ts";
import { type RightHolder, RightsWatch } from "../access/rights-watch.ts";
import { AppError } from "../base/errors.ts";
import type { QueueFigures, QueueOwner } from "../base/queue-metrics.ts";
import type { Runtime, Timer } from "../base/runtime.ts";
import { stopping } from "./call-admission.ts";

/** A stream of an authenticated caller. */
export interface OpenStream extends RightHolder {
  /** Ends the stream with this error, once. */
  end(error: AppError): void;
}

interface OpenStreamsOptions {
  /** Name of these streams in refusals. */
  what: string;
  /** Name of their queue in metrics. */
  queue: string;
  total: number;
  perKey: number;
  revocations: Pick<RevocationFeed, "subscribe">;
  runtime: Runtime;
}

const SWEEP_MS = 1_000;

/**
 * The open streams of one method: limits their number, and ends them when rights end or the process
 * stops.
 */
export class OpenStreams implements QueueOwner {
  readonly #options: OpenStreamsOptions;
  readonly #streams = new Set<OpenStream>();
  readonly #rights: RightsWatch<OpenStream>;
  readonly #timer: Timer;
  #refused = 0;

  constructor(options: OpenStreamsOptions) {
    this.#options = options;
    const { revocations, runtime } = options;
    this.#rights = new RightsWatch({ holders: () => this.#streams, revocations, clock: runtime });
    this.#rights.start();
    this.#timer = runtime.every(SWEEP_MS, () => this.#rights.sweep());
  }

  /**
   * Number of streams that were added and not removed. It includes ended ones whose client has not
   * read the end yet.
   */
  get size(): number {
    return this.#streams.size;
  }

  get queues(): readonly QueueFigures[] {
    const { queue, total: limit } = this.#options;
    return [{ queue, length: this.#streams.size, limit, refused: this.#refused }];
  }

  /** Throws when this caller may not open another stream now. */
  checkRoom({ id }: Principal): void {
    const { what, total, perKey } = this.#options;
    if (this.#streams.size >= total) {
      this.#refused += 1;
      throw new AppError("overloaded", `Too many ${what} are open here.`, { retryAfter: 5 });
    }
    const own = [...this.#streams].filter(({ principal }) => principal.id === id).length;
    if (own >= perKey) {
      throw new AppError("rate_limited", `This key has as many ${what} open as it may.`);
    }
  }

  add(stream: OpenStream): void {
    this.#streams.add(stream);
  }

  remove(stream: OpenStream): void {
    this.#streams.delete(stream);
  }

  /** Ends all streams, so that clients reconnect elsewhere. */
  stop(): void {
    this.#timer.cancel();
    this.#rights.stop();
    for (const stream of [...this.#streams]) stream.end(stopping());
  }
}
