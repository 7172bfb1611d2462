import { partitionOf } from "../../src/base/partition.ts";
import type { OutboxRow } from "../../src/postgres/outbox.ts";
import type { SimRecord } from "../support/record/sim-record.ts";

/** What the batch work of the service writes, past the sessions' journal. */
export class Desk {
  readonly #record: Pick<SimRecord, "tell">;
  readonly #newId: () => string;
  /** Of jobs that are done: one that is done again says nothing new. */
  readonly #done = new Set<string>();

  constructor(record: Pick<SimRecord, "tell">, newId: () => string) {
    this.#record = record;
    this.#newId = newId;
  }

  /** A summary is stored, and the session is to be told. */
  async summary(sessionId: string, jobId: string): Promise<OutboxRow[]> {
    if (this.#done.has(jobId)) return [];
    const command = { type: "SummaryStored" as const, jobId, summaryType: "brief" };
    const row = { id: this.#newId(), sessionId, partition: partitionOf(sessionId), command };
    const isTold = await this.#record.tell(row);
    this.#done.add(jobId);
    return isTold ? [row] : [];
  }
}
