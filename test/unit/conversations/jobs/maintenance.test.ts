import { describe, expect, it } from "vitest";
import { createDeferred } from "../../../../src/base/deferred.ts";
import { silentLog } from "../../../../src/base/log.ts";
import { type Runtime, systemRuntime } from "../../../../src/base/runtime.ts";
import { Maintenance } from "../../../../src/conversations/jobs/maintenance.ts";
import { KeptLog } from "../../../support/kept-log.ts";
import { settled, VirtualRuntime } from "../../../support/late/virtual-runtime.ts";

/** One round of the tasks, and a way to make the next one begin. */
function stage(isFirst: () => boolean, pages = 0) {
  let now = 0;
  const done: string[] = [];
  let next = createDeferred<void>();
  let rested = createDeferred<void>();
  const delay: Runtime["delay"] = async (_ms, signal) => {
    rested.resolve();
    await Promise.race([
      next.promise,
      new Promise((resolve) => signal?.addEventListener("abort", resolve)),
    ]);
  };
  const task = (name: string, every: number, everywhere = false) => ({
    name,
    every,
    everywhere,
    run: async () => ({ done: done.push(name), more: left-- > 0 }),
  });
  let left = pages;
  const tasks = [task("one", 1_000), task("all", 5_000, true)];
  const runtime = { ...systemRuntime, monotonic: () => now, delay };
  const maintenance = new Maintenance(tasks, silentLog, runtime, isFirst);
  const round = async (at: number): Promise<string[]> => {
    now = at;
    const wake = next;
    next = createDeferred<void>();
    rested = createDeferred<void>();
    if (at === 0) maintenance.start();
    wake.resolve();
    await rested.promise;
    return done.splice(0);
  };
  return { round, stop: () => maintenance.stop() };
}

describe("maintenance", () => {
  it("maintenance: what one process has to do is left to it; the rest every process does", async () => {
    let isFirst = false;
    const { round, stop } = stage(() => isFirst);
    expect(await round(0)).toEqual(["all"]);
    isFirst = true;
    expect(await round(1_000)).toEqual(["one"]);
    await stop();
  });

  it("maintenance: a task with more to do goes on as soon as the others had their turn", async () => {
    const { round, stop } = stage(() => true, 3);
    expect(await round(0)).toEqual(["one", "all"]);
    expect(await round(1)).toEqual(["one", "all"]);
    expect(await round(2)).toEqual(["one"]);
    expect(await round(3)).toEqual([]);
    await stop();
  });

  it("maintenance: a task that hangs holds up itself alone, and is begun once", async () => {
    const runtime = new VirtualRuntime();
    const log = new KeptLog();
    const hung = createDeferred<number>();
    const ran: string[] = [];
    const task = (name: string, work: () => Promise<number>) => ({
      ...{ name, every: 1_000 },
      run: () => {
        ran.push(name);
        return work();
      },
    });
    const tasks = [
      task("hangs", () => hung.promise),
      {
        ...task("is not known to be wanted", async () => 0),
        isWanted: () => new Promise<never>(() => {}),
      },
      task("goes on", async () => 0),
    ];
    const maintenance = new Maintenance(tasks, log, runtime);
    maintenance.start();
    await runtime.pass(60_000, settled);
    const count = (name: string) => ran.filter((each) => each === name).length;
    expect([count("hangs"), count("is not known to be wanted")]).toEqual([1, 0]);
    expect(count("goes on")).toBeGreaterThan(3);
    expect(maintenance.ages.get("hangs")).toBeGreaterThan(40);
    expect(maintenance.ages.get("goes on")).toBeLessThan(20);
    hung.resolve(0);
    await runtime.pass(20_000, settled);
    expect(count("hangs")).toBeGreaterThan(1);
    expect(maintenance.ages.get("hangs")).toBeLessThan(20);
    const stopped = maintenance.stop();
    await runtime.pass(20_000, settled);
    await stopped;
  });

  it("maintenance: a task keeps its pace when the wait for it ends a little early", async () => {
    const { round, stop } = stage(() => true);
    expect(await round(0)).toEqual(["one", "all"]);
    expect(await round(500)).toEqual([]);
    expect(await round(990)).toEqual(["one"]);
    await stop();
  });
});
