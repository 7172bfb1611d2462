import { parentPort, workerData } from "node:worker_threads";
import { expose } from "comlink";
import { InferenceClient } from "../inference/inference-client.ts";
import type { ReaderFactory, ReaderTools } from "../speech/reader.ts";
import { SessionScheduler } from "./session-scheduler.ts";
import { TextScheduler } from "./text-scheduler.ts";
import {
  type CallResult,
  type ThreadCalls,
  type ThreadData,
  type ThreadEvent,
  toEndpoint,
  toFault,
} from "./thread-protocol.ts";

const BEAT_MS = 1_000;

interface ThreadParts {
  host: SessionScheduler;
  scheduler: TextScheduler;
  readers: ReaderFactory;
  inference: InferenceClient | undefined;
}

function attempt<T>(work: () => T): CallResult<T> {
  try {
    return { ok: true, value: work() };
  } catch (error) {
    return { ok: false, fault: toFault(error) };
  }
}

async function attemptAsync<T>(work: () => Promise<T>): Promise<CallResult<T>> {
  try {
    return { ok: true, value: await work() };
  } catch (error) {
    return { ok: false, fault: toFault(error) };
  }
}

function createCalls({ host, scheduler, readers, inference }: ThreadParts): ThreadCalls {
  return {
    open: (session, request) => attemptAsync(() => host.open(session, request)),
    feed: (session, request) => attempt(() => host.feed(session, request)),
    hold: (session, held) =>
      attempt(() => {
        host.hold(session, held);
        return true;
      }),
    close: (session) =>
      attempt(() => {
        host.close(session);
        return true;
      }),
    startText: (work, task, request) =>
      attemptAsync(async () => {
        await host.allowTime(() => scheduler.start(work, task, request));
        return true;
      }),
    cancelText: (work) =>
      attempt(() => {
        scheduler.cancel(work);
        return true;
      }),
    dispose: () =>
      attemptAsync(async () => {
        scheduler.cancelAll();
        host.closeAll();
        await readers.close();
        inference?.close();
        return true;
      }),
  };
}

/** Runs a worker thread: creates the readers, answers calls, and sends `ready`. */
export async function serveThread(
  createReaders: (tools: ReaderTools) => Promise<ReaderFactory>,
): Promise<void> {
  if (parentPort === null) throw new Error("This file runs as a worker thread only.");
  const { events, settings } = workerData as ThreadData;
  const emit = (event: ThreadEvent): void => events.postMessage(event);
  try {
    const { inference: port, engines: wanted } = settings;
    const inference = port && new InferenceClient(port);
    const readers = await createReaders({ inference, engines: wanted });
    const host = new SessionScheduler({ readers, emit });
    const scheduler = new TextScheduler(emit, { inference });
    expose(createCalls({ host, scheduler, readers, inference }), toEndpoint(parentPort));
    setInterval(() => {
      host.beat();
      host.reportIdle();
    }, BEAT_MS);
    const { engines, missing = [] } = readers;
    emit({ kind: "ready", engines: [...engines], missing: [...missing] });
  } catch (error) {
    emit({ kind: "broken", fault: toFault(error) });
  }
}
