import { describe, expect, it } from "vitest";
import { createDeferred } from "../../../src/base/deferred.ts";
import { AppError } from "../../../src/base/errors.ts";
import { LookupBatcher } from "../../../src/base/lookup-batcher.ts";

describe("read batch", () => {
  it("asks once for what comes at the same time, and answers each with its own", async () => {
    const queries: (readonly number[])[] = [];
    const batch = new LookupBatcher<number, string>(async (keys) => {
      queries.push(keys);
      return keys.map((key) => (key === 2 ? undefined : `row ${key}`));
    });
    expect(await Promise.all([1, 2, 3].map((key) => batch.get(key)))).toEqual([
      "row 1",
      undefined,
      "row 3",
    ]);
    expect(queries).toEqual([[1, 2, 3]]);
  });

  it("sends who comes later with a later query, two under way at most", async () => {
    const queries: { keys: readonly number[]; answer: () => void }[] = [];
    const batch = new LookupBatcher<number, number>((keys) => {
      const { promise, resolve } = createDeferred<readonly number[]>();
      queries.push({ keys, answer: () => resolve(keys) });
      return promise;
    });
    const answers: Promise<number | undefined>[] = [];
    for (const key of [1, 2, 3, 4]) {
      answers.push(batch.get(key));
      await new Promise(setImmediate);
      await new Promise(setImmediate);
    }
    expect(queries.map(({ keys }) => keys)).toEqual([[1], [2]]);
    queries[1]?.answer();
    await new Promise(setImmediate);
    await new Promise(setImmediate);
    expect(queries.map(({ keys }) => keys)).toEqual([[1], [2], [3, 4]]);
    for (const { answer } of queries) answer();
    expect(await Promise.all(answers)).toEqual([1, 2, 3, 4]);
  });

  it("asks for no more than a hundred at once", async () => {
    const sizes: number[] = [];
    const batch = new LookupBatcher<number, number>(async (keys) => {
      sizes.push(keys.length);
      return keys;
    });
    const keys = Array.from({ length: 250 }, (_, index) => index);
    expect(await Promise.all(keys.map((key) => batch.get(key)))).toEqual(keys);
    expect(sizes).toEqual([100, 100, 50]);
  });

  it("answers all others when one key cannot be read, and asks no more in an outage", async () => {
    const queries: (readonly number[])[] = [];
    let error: Error = new Error("a row that nobody can read");
    const batch = new LookupBatcher<number, number>(async (keys) => {
      queries.push(keys);
      if (keys.includes(2)) throw error;
      return keys;
    });
    const ask = () => Promise.allSettled([1, 2, 3].map((key) => batch.get(key)));
    const wanted = [
      { status: "fulfilled", value: 1 },
      { status: "rejected", reason: error },
      { status: "fulfilled", value: 3 },
    ];
    expect(await ask()).toEqual(wanted);
    expect(queries.splice(0)).toEqual([[1, 2, 3], [1], [2], [3]]);
    error = new AppError("unavailable", "The database is away.");
    expect((await ask()).map(({ status }) => status)).toEqual(Array(3).fill("rejected"));
    expect(queries).toEqual([[1, 2, 3]]);
  });

  it("rejects all of a query that fails, and goes on", async () => {
    let fail = true;
    const batch = new LookupBatcher<number, number>(async (keys) => {
      if (fail) throw new Error("away");
      return keys;
    });
    const first = await Promise.allSettled([batch.get(1), batch.get(2)]);
    expect(first.map(({ status }) => status)).toEqual(["rejected", "rejected"]);
    fail = false;
    expect(await batch.get(3)).toBe(3);
  });
});
