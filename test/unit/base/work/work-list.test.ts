import { describe, expect, it } from "vitest";
import { silentLog } from "../../../../src/base/log.ts";
import { WorkList } from "../../../../src/base/work/work-list.ts";

/** A list of items, of which some cannot be done; each takes a second. */
function list(items: string[], page: number, fails: (item: string) => boolean) {
  let now = 0;
  const tried: string[] = [];
  const work = new WorkList<string>({
    page,
    read: async (limit, except) => items.filter((item) => !except.includes(item)).slice(0, limit),
    keyOf: (item) => item,
    work: async (item) => {
      now += 1_000;
      tried.push(item);
      if (fails(item)) throw new Error("It is held.");
      items.splice(items.indexOf(item), 1);
    },
    clock: { monotonic: () => now },
    log: silentLog,
    trouble: "not done",
    field: "item",
  });
  const run = async () => ({ ...(await work.run()), tried: tried.splice(0) });
  const passes = (ms: number) => {
    now += ms;
  };
  return { work, run, passes };
}

describe("work list", () => {
  it("one that fails delays no other, however small the page, and is tried again later", async () => {
    const { work, run, passes } = list(["a", "b", "c"], 2, (item) => item === "a");
    expect(await run()).toEqual({ done: 1, more: true, tried: ["a", "b"] });
    expect(work.failing).toBe(1);
    // Its second has passed with the other one.
    expect(await run()).toEqual({ done: 1, more: true, tried: ["c", "a"] });
    expect(await run()).toEqual({ done: 0, more: false, tried: [] });
    passes(60_000);
    expect(await run()).toEqual({ done: 0, more: false, tried: ["a"] });
  });

  it("any number of old failures delays no new item", async () => {
    const stuck = Array.from({ length: 10 }, (_, index) => `stuck ${index}`);
    const items = [...stuck];
    const { run, passes } = list(items, 20, (item) => item.startsWith("stuck"));
    await run();
    await run();
    items.push("new");
    passes(3_600_000);
    expect((await run()).tried[0]).toBe("new");
  });

  it("ends early where nothing works, or when its time is over", async () => {
    const many = Array.from({ length: 20 }, (_, index) => `${index}`);
    const { run: broken } = list([...many], 20, () => true);
    expect((await broken()).tried).toHaveLength(5);
    const { run: slow } = list([...many], 20, () => false);
    expect(await slow()).toMatchObject({ done: 5, more: true });
  });
});
