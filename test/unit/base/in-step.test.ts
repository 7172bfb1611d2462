import { describe, expect, it } from "vitest";
import { inStep } from "../../../src/base/in-step.ts";
import { delayBy, type Runtime, systemRuntime } from "../../../src/base/runtime.ts";

/** A runtime whose time passes when it is told to. */
function stage(): { runtime: Runtime; pass(ms: number): Promise<void>; timers(): number } {
  let now = 0;
  const timers = new Set<{ at: number; work: () => void }>();
  const after: Runtime["after"] = (ms, work) => {
    const timer = { at: now + ms, work };
    timers.add(timer);
    return { cancel: () => timers.delete(timer), refresh: () => {} };
  };
  const runtime: Runtime = {
    ...systemRuntime,
    monotonic: () => now,
    after,
    delay: (ms, signal) => delayBy({ after }, ms, signal),
  };
  const pass = async (ms: number): Promise<void> => {
    for (const end = now + ms; ; ) {
      const [next] = [...timers].sort((a, b) => a.at - b.at);
      if (next === undefined || next.at > end) {
        now = end;
        return;
      }
      now = next.at;
      timers.delete(next);
      next.work();
      await new Promise((wake) => setImmediate(wake));
    }
  };
  return { runtime, pass, timers: () => timers.size };
}

describe("background work in step", () => {
  it("in step: waits that begin at different times end at once, with one timer", async () => {
    const { runtime, pass, timers } = stage();
    const beats = inStep(runtime);
    const ends: number[] = [];
    const wait = (ms: number) => beats.delay(ms).then(() => ends.push(runtime.monotonic()));
    await pass(900);
    void wait(1_000);
    await pass(150);
    void wait(1_000);
    expect(timers()).toBe(1);
    await pass(5_000);
    expect(ends).toEqual([2_000, 2_000]);
  });

  it("in step: what waits again and again keeps its pace, however long its work takes", async () => {
    const { runtime, pass } = stage();
    const beats = inStep(runtime);
    const ends: number[] = [];
    const loop = async (): Promise<void> => {
      for (let n = 0; n < 4; n += 1) {
        await beats.delay(1_000);
        ends.push(runtime.monotonic());
        await runtime.delay(30);
      }
    };
    void loop();
    await pass(10_000);
    expect(ends).toEqual([1_000, 2_000, 3_000, 4_000]);
  });

  it("in step: a wait never ends at once, and a short one is as it was", async () => {
    const { runtime, pass } = stage();
    const beats = inStep(runtime);
    const ends: number[] = [];
    await pass(400);
    void beats.delay(1_000).then(() => ends.push(runtime.monotonic()));
    void beats.delay(70).then(() => ends.push(runtime.monotonic()));
    await pass(3_000);
    expect(ends).toEqual([470, 1_000]);
  });

  it("in step: a repeated work goes on until it is cancelled, and leaves no timer", async () => {
    const { runtime, pass, timers } = stage();
    const beats = inStep(runtime);
    let runs = 0;
    const timer = beats.every(2_000, () => {
      runs += 1;
    });
    await pass(6_100);
    timer.cancel();
    await pass(6_000);
    expect([runs, timers()]).toEqual([3, 0]);
  });

  it("in step: a wait that is given up ends then, and leaves no timer", async () => {
    const { runtime, pass, timers } = stage();
    const beats = inStep(runtime);
    const stop = new AbortController();
    let isOver = false;
    void beats.delay(5_000, stop.signal).then(() => {
      isOver = true;
    });
    await pass(100);
    stop.abort();
    await pass(1);
    await new Promise((wake) => setImmediate(wake));
    expect([isOver, timers()]).toEqual([true, 0]);
  });
});
