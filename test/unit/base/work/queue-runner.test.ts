import { describe, expect, it } from "vitest";
import { createDeferred, type Deferred } from "../../../../src/base/deferred.ts";
import { silentLog } from "../../../../src/base/log.ts";
import { QueueRunner } from "../../../../src/base/work/queue-runner.ts";
import { settled, VirtualRuntime } from "../../../support/late/virtual-runtime.ts";

/** A queue of names, worked off three at once; what is under way ends when it is told to. */
function stage(options: { page?: number; graceMs?: number } = {}) {
  const runtime = new VirtualRuntime();
  const waiting: string[] = [];
  const limits: number[] = [];
  const underWay = new Map<string, Deferred<void>>();
  const givenBack: string[] = [];
  const runner = new QueueRunner<string>({
    ...{ queue: "names", atOnce: 3, every: 1_000, trouble: "not readable", ...options },
    claim: async (limit) => {
      limits.push(limit);
      return waiting.splice(0, limit);
    },
    work: (name, signal) => {
      const done = createDeferred<void>();
      const giveBack = () => {
        if (underWay.has(name)) givenBack.push(name);
        done.resolve();
      };
      underWay.set(name, done);
      signal.addEventListener("abort", giveBack);
      return done.promise.finally(() => underWay.delete(name));
    },
    ...{ runtime, log: silentLog },
  });
  const pass = async (ms = 1) => {
    await settled();
    await runtime.pass(ms, settled);
  };
  const end = (name: string) => underWay.get(name)?.resolve();
  const names = () => [...underWay.keys()];
  return { runner, waiting, limits, givenBack, names, end, pass };
}

describe("queue runner", () => {
  it("works on so many at once, and claims no more than it has room for", async () => {
    const { runner, waiting, limits, names, end, pass } = stage();
    waiting.push("a", "b", "c", "d", "e");
    runner.start();
    await pass();
    expect(names()).toEqual(["a", "b", "c"]);
    expect(runner.queues).toEqual([{ queue: "names", length: 3, limit: 3, refused: 0 }]);
    end("b");
    await pass();
    expect(names()).toEqual(["a", "c", "d"]);
    expect(limits).toEqual([3, 1]);
    for (const name of ["a", "c", "d"]) end(name);
    await pass();
    expect(names()).toEqual(["e"]);
    end("e");
    await runner.stop();
  });

  it("asks on at once where a claim gave all that it may", async () => {
    const { runner, waiting, limits, names, end, pass } = stage({ page: 1 });
    waiting.push("a", "b");
    runner.start();
    await pass();
    expect(names()).toEqual(["a", "b"]);
    expect(limits).toEqual([1, 1, 1]);
    for (const name of ["a", "b"]) end(name);
    await runner.stop();
  });

  it("looks at intervals when nothing waited, and at once when it is woken", async () => {
    const { runner, waiting, limits, names, end, pass } = stage();
    runner.start();
    await pass(2_500);
    expect(limits).toEqual([3, 3, 3]);
    waiting.push("a");
    runner.wake();
    await pass();
    expect(names()).toEqual(["a"]);
    end("a");
    await runner.stop();
  });

  it("a stop leaves what is under way its time, and then has it given back", async () => {
    const { runner, waiting, givenBack, end, pass } = stage({ graceMs: 500 });
    waiting.push("a", "b");
    runner.start();
    await pass();
    const stopped = runner.stop();
    await pass(400);
    end("a");
    await pass(50);
    expect(givenBack).toEqual([]);
    await pass(100);
    await stopped;
    expect(givenBack).toEqual(["b"]);
  });
});
