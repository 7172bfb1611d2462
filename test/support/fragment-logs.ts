import { silentLog } from "../../src/base/log.ts";
import { systemRuntime } from "../../src/base/runtime.ts";
import { FragmentLogs } from "../../src/conversations/recording/audio-files/fragment-logs.ts";
import type { FragmentLogStore } from "../../src/conversations/recording/audio-store/audio-store.ts";

/** The bytes of streams as every process of the service stores them. */
export function fragmentLogs(store: FragmentLogStore): FragmentLogs {
  return new FragmentLogs({ store, runtime: systemRuntime, log: silentLog });
}

/** For streams whose bytes the record keeps. */
export const NO_LOGS: Pick<FragmentLogs, "open" | "paceMs" | "readLog" | "retire"> = {
  paceMs: 40,
  open: () => undefined,
  readLog: () => Promise.reject(new Error("there is no log")),
  retire: () => {},
};
