import { describe, expect, it } from "vitest";
import { systemRuntime } from "../../../../src/base/runtime.ts";
import { WorkerRetriever } from "../../../../src/conversations/questions/worker-retriever.ts";
import { Placement } from "../../../../src/inference/placement.ts";
import type { WorkerClient } from "../../../../src/inference/worker-client.ts";

const QUESTION = { query: "When?", now: 0, askerId: "a", across: false, conversations: [] };
const WORKER = {
  worker_id: "w",
  address: "127.0.0.1:1",
  capacity: 1,
  sessions: 0,
  version: "0.0.0",
  engines: [],
  draining: false,
};

/** A worker that answers each question at once. */
function answering(): WorkerClient {
  const stream: WorkerClient["stream"] = async (_address, _method, _request, { onMessage }) => {
    const value = { text: "At noon.", toolsUsed: [], citations: [] };
    onMessage({ message: { $case: "answer", value } } as never);
  };
  return { stream } as WorkerClient;
}

function retrieverOf(placement: Placement, absentMs: number): WorkerRetriever {
  return new WorkerRetriever({ placement, client: answering(), key: undefined, absentMs });
}

describe("WorkerRetriever", () => {
  it("waits for a worker that is heard of a moment later", async () => {
    const placement = new Placement({ runtime: systemRuntime, silenceMs: 60_000 });
    const retriever = retrieverOf(placement, 30_000);
    const asked = retriever.retrieve(QUESTION, new AbortController().signal);
    await Promise.resolve();
    placement.update(WORKER);
    expect((await asked).text).toBe("At noon.");
  });

  it("says within its time that no worker is running", async () => {
    const placement = new Placement({ runtime: systemRuntime });
    const asked = retrieverOf(placement, 1).retrieve(QUESTION, new AbortController().signal);
    await expect(asked).rejects.toMatchObject({ code: "unavailable", retryAfter: 5 });
  });

  it("does not wait for somebody who has gone", async () => {
    const placement = new Placement({ runtime: systemRuntime });
    const gone = new AbortController();
    const asked = retrieverOf(placement, 3_600_000).retrieve(QUESTION, gone.signal);
    gone.abort();
    await expect(asked).rejects.toMatchObject({ code: "unavailable" });
  });
});
