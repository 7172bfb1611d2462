import type { Log } from "../../base/log.ts";
import type { Incoming } from "./request.ts";

/**
 * Warns once when requests come through a proxy of which the settings do not tell: all its callers
 * then count as one address.
 */
export class ForwardedNotice {
  readonly #log: Pick<Log, "warn">;
  #isOver: boolean;

  /** @param hops number of trusted proxies in front */
  constructor(log: Pick<Log, "warn">, hops: number) {
    this.#log = log;
    this.#isOver = hops > 0;
  }

  see({ headers, address }: Incoming): void {
    if (this.#isOver || headers["x-forwarded-for"] === undefined) return;
    this.#isOver = true;
    this.#log.warn(
      { address },
      "a request carries X-Forwarded-For, and TRUST_PROXY is 0: if a proxy at this address sent it, all its callers share the budgets and places of one address, so set TRUST_PROXY to the number of proxies in a row; without a proxy a client made it up, and nothing is to be done",
    );
  }
}
