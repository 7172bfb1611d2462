import type { Runtime } from "../../../src/base/runtime.ts";
import type { SimRecord } from "./sim-record.ts";
import { TwinRecord } from "./twin-record.ts";

export interface RecordOptions {
  kind: "twin";
  /** Of the database's machine: its time is what `now()` gives. */
  runtime: Runtime;
  seed: number;
}

/** The record that a simulated installation stands on. */
export async function createRecord({ runtime, seed }: RecordOptions): Promise<SimRecord> {
  return new TwinRecord(runtime, seed);
}
