import { Worker } from "node:worker_threads";
import type { WriterAnswer, WriterOrder, WriterRequest } from "./writer-service.ts";

const ENTRY = new URL("./blob-thread.ts", import.meta.url);

/** Port: the thread that writes. */
export interface WriterThread {
  /** @param transfer buffers that the thread takes over */
  post(request: WriterRequest, transfer: ArrayBuffer[]): void;
  stop(): Promise<unknown>;
}

export interface WriterEvents {
  onAnswer(answer: WriterAnswer): void;
  /** Called once when nothing more is answered; with the error if there was one. */
  onEnd(cause: Error | undefined): void;
}

/** Starts the thread; it does not keep the process running. */
export function startWriterThread(order: WriterOrder, events: WriterEvents): WriterThread {
  const execArgv = ["--disable-warning=ExperimentalWarning"];
  const thread = new Worker(ENTRY, { execArgv, workerData: order });
  let cause: Error | undefined;
  thread.unref();
  thread.on("message", (answer: WriterAnswer) => events.onAnswer(answer));
  thread.on("error", (error) => {
    cause = error;
  });
  thread.on("exit", () => events.onEnd(cause));
  return {
    post: (request, transfer) => thread.postMessage(request, transfer),
    stop: () => thread.terminate(),
  };
}
