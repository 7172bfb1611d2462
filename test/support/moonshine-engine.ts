import { InferenceClient } from "../../workers/inference/inference-client.ts";
import { InferencePool } from "../../workers/inference/inference-pool.ts";
import type { OpenedEngine } from "../../workers/speech/opened-engine.ts";
import { openEngine } from "../../workers/threads/speech-engines.ts";

/** The service's own engine with inference threads of its own. */
export interface RunningEngine extends OpenedEngine {
  close(): void;
}

export async function startMoonshine(threads = 1): Promise<RunningEngine> {
  const pool = new InferencePool({ threads });
  await pool.start();
  const client = new InferenceClient(pool.connect());
  const close = (): void => {
    client.close();
    pool.stop();
  };
  return { ...openEngine({ kind: "moonshine-tiny-en" }, client), close };
}
