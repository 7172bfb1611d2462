import type { Runtime } from "../../../src/base/runtime.ts";
import type { SimPostgres } from "./sim-postgres.ts";
import type { SimRecord } from "./sim-record.ts";
import { SqlRecord } from "./sql-record.ts";
import { TwinRecord } from "./twin-record.ts";

export interface RecordOptions {
  /** Tables in memory, or the service's own SQL on a server that was started for it. */
  kind: "twin" | { sql: SimPostgres };
  /** Of the database's machine: its time is what `now()` gives. */
  runtime: Runtime;
  /** Decides what goes wrong, and with SQL whose statement comes first. */
  seed: number;
}

/** The record that a simulated installation stands on. */
export async function createRecord({ kind, runtime, seed }: RecordOptions): Promise<SimRecord> {
  if (kind === "twin") return new TwinRecord(runtime, seed);
  return SqlRecord.open(runtime, seed, await kind.sql.open());
}
