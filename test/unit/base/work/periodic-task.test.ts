import { describe, expect, it } from "vitest";
import { createDeferred } from "../../../../src/base/deferred.ts";
import { PeriodicTask, type PeriodicTaskOptions } from "../../../../src/base/work/periodic-task.ts";
import { KeptLog } from "../../../support/kept-log.ts";
import { settled, VirtualRuntime } from "../../../support/late/virtual-runtime.ts";

function stage(run: PeriodicTaskOptions["run"], options: Partial<PeriodicTaskOptions> = {}) {
  const runtime = new VirtualRuntime();
  const begun = runtime.monotonic();
  const log = new KeptLog();
  const at: number[] = [];
  const task = new PeriodicTask({
    run: (signal) => {
      at.push(runtime.monotonic() - begun);
      return run(signal);
    },
    ...{ every: 1_000, trouble: "not readable", runtime, log, ...options },
  });
  const pass = async (ms: number) => {
    await settled();
    await runtime.pass(ms, settled);
  };
  return { task, at, log, pass };
}

describe("periodic task", () => {
  it("runs at once and then at its interval, however often it is started", async () => {
    const { task, at, pass } = stage(async () => {});
    task.start();
    task.start();
    await pass(2_500);
    expect(at).toEqual([0, 1_000, 2_000]);
    await task.stop();
    await pass(5_000);
    expect(at).toHaveLength(3);
  });

  it("may wait before the first run, too", async () => {
    const { task, at, pass } = stage(async () => {}, { waitsFirst: true });
    task.start();
    await pass(1_500);
    expect(at).toEqual([1_000]);
    await task.stop();
  });

  it("a run says when the next one begins", async () => {
    const waits = [0, 0, 300, undefined];
    const { task, at, pass } = stage(async () => waits.shift());
    task.start();
    await pass(1_500);
    expect(at).toEqual([0, 0, 0, 300, 1_300]);
    await task.stop();
  });

  it("waits longer after a run that took long, whether it failed or not", async () => {
    const runs = [createDeferred<undefined>(), createDeferred<undefined>()];
    const { task, at, pass } = stage(() => (runs.shift() ?? createDeferred<undefined>()).promise, {
      mostEvery: 5_000,
    });
    const [first, second] = runs;
    task.start();
    await pass(200);
    first?.resolve(undefined);
    await pass(2_000);
    expect(at).toEqual([0, 2_200]);
    await pass(1_000);
    second?.reject(new Error("too slow"));
    await pass(5_000);
    expect(at).toEqual([0, 2_200, 8_200]);
  });

  it("runs at once when it is woken, and once more when that comes during a run", async () => {
    let run = createDeferred<void>();
    const { task, at, pass } = stage(() => run.promise);
    task.start();
    task.wake();
    task.wake();
    run.resolve();
    run = createDeferred<void>();
    await pass(10);
    expect(at).toEqual([0, 0]);
    run.resolve();
    await pass(10);
    task.wake();
    await pass(10);
    expect(at).toEqual([0, 0, 20]);
    await task.stop();
  });

  it("an outage is two lines of the log, and nothing else of it is different", async () => {
    let isAway = true;
    const { task, at, log, pass } = stage(async () => {
      if (isAway) throw new Error("away");
    });
    task.start();
    await pass(3_500);
    isAway = false;
    await pass(2_000);
    expect(at).toHaveLength(6);
    expect(log.lines.map(({ msg }) => msg)).toEqual(["not readable", "not readable: over"]);
    await task.stop();
  });

  it("a stop waits for the run under way, which may end early", async () => {
    const { task } = stage(
      (signal) => new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve())),
    );
    task.start();
    await task.stop();
  });
});
