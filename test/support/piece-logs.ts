import { silentLog } from "../../src/base/log.ts";
import { systemRuntime } from "../../src/base/runtime.ts";
import { PieceLogs } from "../../src/conversations/recording/audio-files/piece-logs.ts";
import type { PieceLogStore } from "../../src/conversations/recording/audio-store/audio-store.ts";

/** The bytes of streams as every process of the service stores them. */
export function pieceLogs(store: PieceLogStore): PieceLogs {
  return new PieceLogs({ store, runtime: systemRuntime, log: silentLog });
}

/** For streams whose bytes the record keeps. */
export const NO_LOGS: Pick<PieceLogs, "open" | "paceMs" | "readLog" | "retire"> = {
  paceMs: 40,
  open: () => undefined,
  readLog: () => Promise.reject(new Error("there is no log")),
  retire: () => {},
};
