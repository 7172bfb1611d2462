import { partitionOf } from "../../src/base/partition.ts";
import type { OutboxRow } from "../../src/postgres/outbox.ts";
import type { OutsideCommand } from "../../src/session/outside-command.ts";
import type { SimRecord } from "../support/record/sim-record.ts";

type Told = Extract<OutsideCommand, { type: "SummaryStored" | "GuestStored" }>;

/** What the batch work of the service writes, past the sessions' journal. */
export class Desk {
  readonly #record: Pick<SimRecord, "tell">;
  readonly #newId: () => string;
  /** Of jobs that are done and guests who are in: who comes again says nothing new. */
  readonly #done = new Set<string>();

  constructor(record: Pick<SimRecord, "tell">, newId: () => string) {
    this.#record = record;
    this.#newId = newId;
  }

  /** A summary or a guest is stored, and the session is to be told. */
  async tell(sessionId: string, command: Told): Promise<OutboxRow[]> {
    const cause = command.type === "SummaryStored" ? command.jobId : command.guestId;
    if (this.#done.has(cause)) return [];
    const row = { id: this.#newId(), sessionId, partition: partitionOf(sessionId), command };
    const isTold = await this.#record.tell(row);
    this.#done.add(cause);
    return isTold ? [row] : [];
  }
}
