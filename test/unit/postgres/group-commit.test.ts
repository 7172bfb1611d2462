import { describe, expect, it } from "vitest";
import { createDeferred } from "../../../src/base/deferred.ts";
import { AppError } from "../../../src/base/errors.ts";
import { GroupCommit } from "../../../src/postgres/group-commit.ts";

/** A store in which items below zero cannot be written, and take their group along. */
function storeOf(failure: () => Error) {
  const groups: number[] = [];
  const stored: number[] = [];
  const group = new GroupCommit<number>(async (items) => {
    groups.push(items.length);
    if (items.some((item) => item < 0)) throw failure();
    stored.push(...items);
    return items.map(() => ({ status: "fulfilled", value: undefined }));
  }, 256);
  return { group, groups, stored };
}

describe("group commit", () => {
  it("group commit: one that cannot be written costs a few halves, and only itself", async () => {
    const { group, groups, stored } = storeOf(() => new Error("no"));
    const items = Array.from({ length: 256 }, (_, at) => (at === 77 ? -1 : at));
    const results = await Promise.allSettled(items.map((item) => group.add(item)));
    expect(results.filter(({ status }) => status === "rejected")).toHaveLength(1);
    expect(results[77]?.status).toBe("rejected");
    expect(stored).toEqual(items.filter((item) => item >= 0));
    expect(groups.length).toBeLessThan(20);
  });

  it("group commit: an outage is not asked again for each half", async () => {
    const { group, groups } = storeOf(() => new AppError("unavailable", "away"));
    const results = await Promise.allSettled([1, -1, 3, 4].map((item) => group.add(item)));
    expect(results.map(({ status }) => status)).toEqual(Array(4).fill("rejected"));
    expect(groups).toEqual([4]);
  });

  it("group commit: what is being written counts as well as what waits", async () => {
    const first = createDeferred<void>();
    const group = new GroupCommit<number>(async (items) => {
      await first.promise;
      return items.map(() => ({ status: "fulfilled", value: undefined }));
    }, 2);
    const all = Promise.all([1, 2, 3].map((item) => group.add(item)));
    await Promise.resolve();
    await Promise.resolve();
    expect(group.figures("q").length).toBe(3);
    first.resolve();
    await all;
    expect(group.figures("q").length).toBe(0);
  });
});
