import type { InferenceClient } from "../inference/inference-client.ts";

/**
 * Work on text or on voices, done in a thread for such work between the steps of other work.
 *
 * A step runs until the next `yield` and takes some milliseconds, but for the first, which loads
 * dictionaries. It yields an encoded
 * answer for the caller, a promise to go on behind, or undefined when there is no answer yet. Throws
 * an AppError for an invalid request.
 */
export type TextTask = (
  request: Uint8Array,
  tools: TextTools,
) => Generator<Uint8Array | Promise<unknown> | undefined, void>;

/** What a thread has for its tasks. */
export interface TextTools {
  /** The process's inference threads; absent where there are none. */
  readonly inference?: InferenceClient | undefined;
}

/** The available tasks, named like the gRPC methods; `ground` is part of summarising. */
export type TextTaskName =
  | "summarise"
  | "understand"
  | "retrieve"
  | "compareVoice"
  | "extractEntities"
  | "ground";

/** Loads a task at first use, as many a worker never needs its dictionaries. */
export async function loadTextTask(name: TextTaskName): Promise<TextTask> {
  switch (name) {
    case "summarise":
      return (await import("../text/summary/summarise-task.ts")).summariseTask;
    case "ground":
      return (await import("../text/grounding/ground-task.ts")).groundTask;
    case "understand":
      return (await import("../text/retrieval/retrieve-task.ts")).understandTask;
    case "retrieve":
      return (await import("../text/retrieval/retrieve-task.ts")).retrieveTask;
    case "extractEntities":
      return (await import("../text/graph/extract.ts")).extractTask;
    case "compareVoice":
      return (await import("../speakers/compare-task.ts")).compareVoiceTask;
  }
}
