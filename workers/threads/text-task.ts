/**
 * Work on text, done in a worker thread between the steps of its sessions.
 *
 * A step runs until the next `yield` and takes a few milliseconds at most; it
 * yields an encoded answer for the caller, or undefined when there is none yet.
 * Throws an AppError on a request that cannot be.
 */
export type TextTask = (request: Uint8Array) => Generator<Uint8Array | undefined, void>;

/** What can be asked for; the names are those of the gRPC methods. */
export type TextTaskName = "summarise" | "understand" | "retrieve";

/** Loaded at first use: a thread that only transcribes needs no dictionary in memory. */
export async function loadTextTask(name: TextTaskName): Promise<TextTask> {
  switch (name) {
    case "summarise":
      return (await import("../text/summary/summarise-task.ts")).summariseTask;
    case "understand":
      return (await import("../text/retrieval/retrieve-task.ts")).understandTask;
    case "retrieve":
      return (await import("../text/retrieval/retrieve-task.ts")).retrieveTask;
  }
}
