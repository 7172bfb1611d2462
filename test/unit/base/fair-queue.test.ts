import { describe, expect, it } from "vitest";
import { FairQueue } from "../../../src/base/fair-queue.ts";

function drain<T>(queue: FairQueue<T>): T[] {
  const items: T[] = [];
  for (let item = queue.take(); item !== undefined; item = queue.take()) items.push(item);
  return items;
}

describe("fair queue", () => {
  it("takes from each holder in turn, and of one in the order of arrival", () => {
    const queue = new FairQueue<string>({ capacity: 10, share: 10 });
    for (const item of ["a1", "a2", "a3", "b1", "c1", "b2"]) queue.offer(item[0] ?? "", item);
    expect(queue.take()).toBe("a1");
    queue.offer("d", "d1");
    expect(drain(queue)).toEqual(["b1", "c1", "a2", "d1", "b2", "a3"]);
    expect(queue.size).toBe(0);
  });

  it("refuses beyond the share of a holder", () => {
    const queue = new FairQueue<string>({ capacity: 10, share: 2 });
    expect(["a1", "a2", "a3"].map((item) => queue.offer("a", item))).toEqual([
      undefined,
      undefined,
      "a3",
    ]);
    expect(queue.refused).toBe(1);
  });

  it("makes room for a holder with few by pushing out the newest of the one with the most", () => {
    const queue = new FairQueue<string>({ capacity: 4, share: 4 });
    for (const item of ["a1", "a2", "a3", "b1"]) queue.offer(item[0] ?? "", item);
    expect(queue.offer("c", "c1")).toBe("a3");
    // Two and one are as even as it gets.
    expect(queue.offer("c", "c2")).toBe("c2");
    expect(queue.offer("a", "a4")).toBe("a4");
    expect(drain(queue)).toEqual(["a1", "b1", "c1", "a2"]);
    expect(queue.refused).toBe(3);
  });

  it("never holds more than its capacity, whoever comes", () => {
    const queue = new FairQueue<number>({ capacity: 5, share: 3 });
    for (let item = 0; item < 100; item += 1) {
      queue.offer(`h${item % 7}`, item);
      expect(queue.size).toBeLessThanOrEqual(5);
    }
    expect(drain(queue)).toHaveLength(5);
  });
});
