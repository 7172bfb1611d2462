import type { ActorPorts } from "../../src/app-actors.ts";
import { isAppError } from "../../src/base/errors.ts";
import type { BrokerLine } from "./kernel/broker.ts";

type SessionJournal = ActorPorts["journal"];

/** The others of the run, as far as a take-over is to be judged by them. */
export interface Owners {
  /** It runs, is reached by all, has been for a while, and holds the session. */
  holds(host: string, sessionId: string): boolean;
  fail(sessionId: string, message: string): void;
}

/**
 * Nobody takes a session from a host that is well and holds it. And a host that was told by the
 * record that another one has taken a session over, and that cannot see the leases, has no reason
 * to take it back: both would go on for ever.
 */
export class Duels {
  readonly #owners: Owners;
  /** Host and session, with the breaks of the host's line until then. */
  readonly #beaten = new Map<string, number>();
  /** By session, the host that took it last. */
  readonly #owner = new Map<string, string>();

  constructor(owners: Owners) {
    this.#owners = owners;
  }

  watched(journal: SessionJournal, host: string, line: BrokerLine): SessionJournal {
    return {
      load: (id, from) => journal.load(id, from),
      activate: async (id) => {
        const loaded = await journal.activate(id);
        if (loaded !== undefined) this.#took(id, host);
        const isBlind = !line.isUp && this.#beaten.get(`${host} ${id}`) === line.breaks;
        if (loaded !== undefined && isBlind) {
          this.#owners.fail(
            id,
            `${host} took it back from who had taken it over, without seeing the leases`,
          );
        }
        return loaded;
      },
      append: async (batch) => {
        try {
          return await journal.append(batch);
        } catch (error) {
          if (isAppError(error, "stale_epoch") && !line.isUp) {
            this.#beaten.set(`${host} ${batch.id}`, line.breaks);
          }
          throw error;
        }
      },
    };
  }

  #took(id: string, host: string): void {
    const before = this.#owner.get(id);
    this.#owner.set(id, host);
    if (before === undefined || before === host || !this.#owners.holds(before, id)) return;
    this.#owners.fail(id, `${host} took it from ${before}, which was well and held it`);
  }
}
