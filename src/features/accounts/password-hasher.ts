import { hash, verify } from "@node-rs/argon2";
import { randomText } from "../../access/secret.ts";
import { BoundedQueue } from "../../base/bounded-queue.ts";
import { createDeferred, type Deferred } from "../../base/deferred.ts";
import { AppError } from "../../base/errors.ts";
import type { QueueFigures, QueueOwner } from "../../base/queue-metrics.ts";

/** argon2id, as OWASP ASVS 5.0 appendix C approves: 46 MiB, one pass, one lane; about 30 ms. */
const COST = { memoryCost: 47_104, timeCost: 1, parallelism: 1 };
const CURRENT_FORM = "$argon2id$v=19$m=47104,t=1,p=1$";

export const PASSWORD_MIN_LENGTH = 8;
export const PASSWORD_MAX_BYTES = 1_024;

interface PasswordHasherOptions {
  /** Hashes at once: each takes 46 MiB and a core. */
  concurrency?: number;
  /** How many may wait; more are refused with `overloaded`. */
  queue?: number;
}

/** Hashes and checks passwords, a bounded number at once. */
export class PasswordHasher implements QueueOwner {
  readonly #concurrency: number;
  readonly #waiting: BoundedQueue<Deferred<void>>;
  #running = 0;
  #decoy: Promise<string> | undefined;

  constructor(options: PasswordHasherOptions = {}) {
    this.#concurrency = options.concurrency ?? 2;
    this.#waiting = new BoundedQueue(options.queue ?? 50);
  }

  get queues(): readonly QueueFigures[] {
    const { size, capacity, refused } = this.#waiting;
    return [{ queue: "passwords", length: size, limit: capacity, refused }];
  }

  hash(password: string): Promise<string> {
    return this.#slot(() => hash(password, COST));
  }

  /**
   * True when `password` belongs to `hashed`. Without a hash (no such account,
   * or one without a password) the same work is done and the answer is false.
   */
  async verify(hashed: string | undefined, password: string): Promise<boolean> {
    const decoy = await this.#getDecoy();
    const right = await this.#slot(() => verify(hashed ?? decoy, password));
    return hashed !== undefined && right;
  }

  /** True when a hash was made with other costs than today's. */
  isOutdated(hashed: string): boolean {
    return !hashed.startsWith(CURRENT_FORM);
  }

  #getDecoy(): Promise<string> {
    this.#decoy ??= hash(randomText(32), COST);
    return this.#decoy;
  }

  async #slot<T>(work: () => Promise<T>): Promise<T> {
    if (this.#running >= this.#concurrency) {
      const turn = createDeferred<void>();
      if (!this.#waiting.offer(turn)) {
        throw new AppError("overloaded", "Too many people are signing in. Please try again.", {
          retryAfter: 2,
        });
      }
      // The one that ends hands its place over, so the count stays.
      await turn.promise;
    } else {
      this.#running += 1;
    }
    try {
      return await work();
    } finally {
      const next = this.#waiting.take();
      if (next === undefined) this.#running -= 1;
      else next.resolve();
    }
  }
}
