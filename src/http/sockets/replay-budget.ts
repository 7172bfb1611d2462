import type { Principal } from "../../access/principal.ts";
import { Gcra, type RateLimit } from "../../base/gcra.ts";
import type { Runtime } from "../../base/runtime.ts";

/** Who shares a budget of replays: a caller, or all guests of an address, as they cost nothing. */
export function replayReader(principal: Principal, network: string): string {
  return principal.kind === "guest" ? `guests ${network}` : principal.id;
}

/** Paces how much of the record one reader draws: it is slowed down, never refused. */
export class ReplayBudget {
  readonly #pages: Gcra;
  readonly #runtime: Runtime;

  constructor(limit: RateLimit, runtime: Runtime) {
    this.#pages = new Gcra(limit, runtime);
    this.#runtime = runtime;
  }

  /** Resolves when the reader may have another page; false when `isOver` became true meanwhile. */
  async turn(reader: string, isOver: () => boolean): Promise<boolean> {
    for (;;) {
      if (isOver()) return false;
      const { allowed, retryAfterSeconds } = this.#pages.take(reader);
      if (allowed) return true;
      // In short steps, so that nothing is kept for long of a socket that has closed.
      await this.#runtime.delay(Math.min(retryAfterSeconds, 1) * 1_000);
    }
  }
}
