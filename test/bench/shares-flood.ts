import { setTimeout as wait } from "node:timers/promises";
import { WholeService } from "../support/whole-service.ts";
import { answerParent } from "./answer-parent.ts";
import { type SharedThing, Tenant } from "./tenant.ts";

export type FloodQuestion =
  | { kind: "open"; folder: string; workspaces: number; hook: string }
  | { kind: "start"; thing: SharedThing }
  | { kind: "stop" };

export interface FloodCounts {
  done: number;
  refused: number;
}

/** Before somebody who was refused comes again. */
const AGAIN_MS = 100;
/** How many each workspace asks for at once. */
const AT_ONCE = 2;

/** One account that asks from many workspaces, from each again as soon as it was answered. */
class Flood {
  readonly #tenants: readonly Tenant[];
  readonly #counts: FloodCounts = { done: 0, refused: 0 };
  readonly #asking: Promise<void>[] = [];
  #isOver = false;

  constructor(tenants: readonly Tenant[]) {
    this.#tenants = tenants;
  }

  start(thing: SharedThing): void {
    // A device begins one session at a time.
    const atOnce = thing === "webhook" || thing === "words" ? 1 : AT_ONCE;
    for (const tenant of this.#tenants) {
      for (let n = 0; n < atOnce; n += 1) this.#asking.push(this.#ask(tenant, thing));
    }
  }

  /** Does not wait for what is asked for. */
  stop(): FloodCounts {
    this.#isOver = true;
    return this.#counts;
  }

  async #ask(tenant: Tenant, thing: SharedThing): Promise<void> {
    while (!this.#isOver) {
      try {
        await tenant.use(thing, () => Promise.resolve());
        this.#counts.done += 1;
      } catch {
        this.#counts.refused += 1;
        await wait(AGAIN_MS);
      }
    }
  }
}

let tenants: Tenant[] = [];
let flood: Flood | undefined;

answerParent<FloodQuestion>(async (question) => {
  if (question.kind === "open") {
    const service = WholeService.shared(question.folder);
    tenants = await Tenant.openAll(service, question.workspaces, question.hook);
    return tenants.length;
  }
  if (question.kind === "stop") return flood?.stop();
  flood = new Flood(tenants);
  flood.start(question.thing);
  return undefined;
});
