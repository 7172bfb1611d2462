import type { CallResult } from "./thread-protocol.ts";

/** Calls into the thread, by comlink. Both sides are encoded messages of graph.proto. */
export interface GraphThreadCalls {
  extract(request: Uint8Array): CallResult<Uint8Array>;
}
