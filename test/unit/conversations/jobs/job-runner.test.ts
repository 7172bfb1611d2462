import { describe, expect, it } from "vitest";
import { createDeferred } from "../../../../src/base/deferred.ts";
import { silentLog } from "../../../../src/base/log.ts";
import { type Runtime, systemRuntime } from "../../../../src/base/runtime.ts";
import type { ClaimedJob } from "../../../../src/conversations/jobs/queue.ts";
import type { JobQueueStore } from "../../../../src/conversations/jobs/queue-store.ts";
import { createJobRunner } from "../../../../src/conversations/jobs/runner.ts";

const JOB: ClaimedJob = { id: "1", kind: "k", sessionId: "s", attempt: 1, claimId: "c" };

describe("job runner", () => {
  it("job runner: looks at once when it is told of work, however long it would have waited", async () => {
    const waiting: ClaimedJob[] = [];
    const done = createDeferred<string>();
    const firstLook = createDeferred<void>();
    const queue: Pick<JobQueueStore, "claim" | "renew" | "release" | "end"> = {
      claim: async () => {
        firstLook.resolve();
        return waiting.pop();
      },
      renew: async () => true,
      release: async () => {},
      end: async () => {},
    };
    // Waits end only when they are given up.
    const delay: Runtime["delay"] = (_ms, signal) =>
      new Promise((resolve) => {
        if (signal?.aborted) resolve();
        signal?.addEventListener("abort", () => resolve(), { once: true });
      });
    const runner = createJobRunner({
      queue,
      handlers: [{ kind: "k", run: async ({ id }) => done.resolve(id) }],
      log: silentLog,
      runtime: { ...systemRuntime, delay },
      concurrency: 1,
    });
    runner.start();
    await firstLook.promise;
    waiting.push(JOB);
    runner.wake();
    expect(await done.promise).toBe("1");
    await runner.stop();
  });
});
