/** An inference thread that answers requests for vectors at once, each after a millisecond of work for each sample as it says, and holds others for ever. */
import { parentPort } from "node:worker_threads";
import type { InferenceCall, InferenceEvent } from "../../workers/inference/inference-protocol.ts";

const emit = (event: InferenceEvent): void => parentPort?.postMessage(event);

parentPort?.on("message", (call: InferenceCall) => {
  if (call.kind !== "run" || call.request.kind !== "embed") return;
  emit({
    kind: "done",
    id: call.id,
    answer: { numbers: new Float32Array(), workMs: call.request.pcm.length },
  });
});
emit({ kind: "ready", networks: { provider: "cpu" } });
