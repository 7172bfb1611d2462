import { isAppError } from "../../src/base/errors.ts";
import type { ActorOptions } from "../../src/roles/actors.ts";

type SessionJournal = ActorOptions["journal"];

/** The others of the run, as far as a take-over is to be judged by them. */
export interface Owners {
  /** It runs, is reached by all, has been for a while, and holds the session. */
  holds(host: string, sessionId: string): boolean;
  /** The host at whose name the record has the session's partition. */
  holder(sessionId: string): string | undefined;
  fail(sessionId: string, message: string): void;
}

/**
 * Nobody takes a session from a host that is well and holds it. And a host that was told by the
 * record that another one has taken a session over takes it back only when the leases say that it
 * is its own: else both would go on for ever.
 */
export class Duels {
  readonly #owners: Owners;
  /** Host and session. */
  readonly #beaten = new Set<string>();
  /** By session, the host that took it last. */
  readonly #owner = new Map<string, string>();

  constructor(owners: Owners) {
    this.#owners = owners;
  }

  watched(journal: SessionJournal, host: string): SessionJournal {
    return {
      load: (id, from) => journal.load(id, from),
      activate: async (id) => {
        if (this.#beaten.delete(`${host} ${id}`) && this.#owners.holder(id) !== host) {
          this.#owners.fail(id, `${host} takes it back from who has taken it over`);
        }
        const loaded = await journal.activate(id);
        if (loaded !== undefined) this.#took(id, host);
        return loaded;
      },
      append: async (batch) => {
        try {
          return await journal.append(batch);
        } catch (error) {
          if (isAppError(error, "stale_epoch")) this.#beaten.add(`${host} ${batch.id}`);
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
