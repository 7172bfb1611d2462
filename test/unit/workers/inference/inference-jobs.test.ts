import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { InferenceJobs, nextJob } from "../../../../workers/inference/inference-jobs.ts";
import type { InferenceRequest } from "../../../../workers/inference/inference-protocol.ts";
import { WorkOfShares } from "../../../../workers/inference/work-of-shares.ts";

const job = (id: number, arrivedAt: number, seconds: number, isFinal = true, share?: string) => {
  return { id, share, arrivedAt, samples: seconds * 16_000, isFinal };
};
const nothingDone = () => 0;

describe("inference jobs: which goes on", () => {
  it("finals before interim readings, however long these wait", () => {
    expect(nextJob([job(1, 0, 1, false), job(2, 9_000, 20)], nothingDone)?.id).toBe(2);
  });

  it("short ones pass a long one, but not for ever", () => {
    expect(nextJob([job(1, 0, 20), job(2, 1_000, 2)], nothingDone)?.id).toBe(2);
    expect(nextJob([job(1, 0, 20), job(2, 2_500, 2)], nothingDone)?.id).toBe(1);
  });

  it("nothing where there is nothing", () => {
    expect(nextJob([], nothingDone)).toBeUndefined();
  });

  it("that of the share for which least was done, but no interim reading before a final", () => {
    const workOf = (share: string | undefined) => (share === "mallory" ? 900 : 100);
    const jobs = [job(1, 0, 1, true, "mallory"), job(2, 5_000, 20, true, "alice")];
    expect(nextJob(jobs, workOf)?.id).toBe(2);
    const interim = job(3, 0, 1, false, "alice");
    expect(nextJob([job(1, 9_000, 1, true, "mallory"), interim], workOf)?.id).toBe(1);
  });

  it("what was done long ago counts no more", () => {
    const work = new WorkOfShares();
    work.add("mallory", 8_000, 0);
    work.add("alice", 100, 0);
    expect(work.of("mallory", 0)).toBe(8_000);
    expect(work.of("mallory", 4_000)).toBe(4_000);
    expect(work.of("mallory", 60_000)).toBeLessThan(1);
    expect(work.of("bob", 0)).toBe(0);
  });
});

describe("inference jobs: the steps of one thread", () => {
  beforeEach(() => {
    vi.useFakeTimers({ toFake: ["performance"] });
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  it("a share with one job is through before another's many that came first", async () => {
    const done: number[] = [];
    let finish = (): void => {};
    const finished = new Promise<void>((resolve) => {
      finish = resolve;
    });
    const jobs = new InferenceJobs({
      async *begin() {
        for (let step = 0; step < 3; step += 1) {
          // Work that takes the thread, as the networks do, and always as long.
          vi.advanceTimersByTime(2);
          yield undefined;
        }
        return { numbers: new Float32Array(), workMs: 0 };
      },
      onDone: (id) => {
        done.push(id);
        if (done.length === 7) finish();
      },
      onFailed: (_id, error) => {
        throw error;
      },
    });
    const request = (): InferenceRequest => {
      return { kind: "embed", pcm: new Int16Array(16_000), isFinal: true };
    };
    for (let id = 1; id <= 6; id += 1) jobs.add(id, request(), "mallory");
    jobs.add(7, request(), "alice");
    await finished;
    expect(done.indexOf(7)).toBeLessThanOrEqual(1);
  });
});
