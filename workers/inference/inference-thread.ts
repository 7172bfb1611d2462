import { Worker } from "node:worker_threads";
import { errorMessage } from "../../src/base/errors.ts";
import type { InferenceCall, InferenceEvent } from "./inference-protocol.ts";
import type { NetworkSettings } from "./network-settings.ts";

const ENTRY = new URL("./inference-thread-entry.ts", import.meta.url);

/** Given to a thread at its start. */
export interface InferenceThreadData {
  /** True where it shall read; voices are heard in any case. */
  reads: boolean;
  networks: NetworkSettings;
}

interface InferenceThreadOptions extends InferenceThreadData {
  /** File that the thread runs. */
  entry?: URL | undefined;
  onEvent: (event: InferenceEvent) => void;
  /** Called once, when the thread has ended, however it did. */
  onEnd: (reason: string) => void;
}

/** One thread that holds the networks. */
export class InferenceThread {
  readonly #worker: Worker;
  readonly #onEnd: (reason: string) => void;
  #hasEnded = false;

  constructor({ entry = ENTRY, reads, networks, onEvent, onEnd }: InferenceThreadOptions) {
    this.#onEnd = onEnd;
    this.#worker = new Worker(entry, {
      execArgv: [],
      workerData: { reads, networks } satisfies InferenceThreadData,
    });
    this.#worker.on("message", (event: InferenceEvent) => {
      if (this.#hasEnded) return;
      onEvent(event);
      if (event.kind === "broken") this.#end(event.reason);
    });
    this.#worker.on("error", (error) => this.#end(errorMessage(error)));
    this.#worker.on("exit", (code) => this.#end(`exit code ${code}`));
  }

  send(call: InferenceCall): void {
    const sound = call.kind === "run" ? [call.request.pcm.buffer as ArrayBuffer] : [];
    this.#worker.postMessage(call, sound);
  }

  end(): void {
    this.#end("it was stopped");
  }

  #end(reason: string): void {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    this.#worker.terminate().catch(() => {});
    this.#onEnd(reason);
  }
}
