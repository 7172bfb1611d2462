import type { ActorPorts } from "../../src/app-actors.ts";
import { isAppError } from "../../src/base/errors.ts";
import type { BrokerLine } from "./kernel/broker.ts";

type SessionJournal = ActorPorts["journal"];

/**
 * A host that was told by the record that another one has taken a session over, and that cannot
 * see the leases, has no reason to take it back: both would go on for ever.
 */
export class Duels {
  readonly #fail: (sessionId: string, message: string) => void;
  /** Host and session, with the breaks of the host's line until then. */
  readonly #beaten = new Map<string, number>();

  constructor(fail: (sessionId: string, message: string) => void) {
    this.#fail = fail;
  }

  watched(journal: SessionJournal, host: string, line: BrokerLine): SessionJournal {
    return {
      load: (id, from) => journal.load(id, from),
      activate: async (id) => {
        const loaded = await journal.activate(id);
        const isBlind = !line.isUp && this.#beaten.get(`${host} ${id}`) === line.breaks;
        if (loaded !== undefined && isBlind) {
          this.#fail(
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
}
