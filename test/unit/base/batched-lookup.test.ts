import { describe, expect, it } from "vitest";
import { BatchedLookup } from "../../../src/base/batched-lookup.ts";
import { createDeferred } from "../../../src/base/deferred.ts";

/** Questions wait until a test lets them go; each answers with its own number. */
function askedInTurn() {
  const asked: { keys: readonly string[]; answer: () => void; fail: () => void }[] = [];
  const lookup = new BatchedLookup<string>((keys) => {
    const deferred = createDeferred<ReadonlyMap<string, string>>();
    const number = asked.length;
    asked.push({
      keys,
      answer: () => deferred.resolve(new Map(keys.map((key) => [key, `${key} in ${number}`]))),
      fail: () => deferred.reject(new Error("away")),
    });
    return deferred.promise;
  });
  return { asked, lookup };
}

const turn = () => new Promise((resolve) => setImmediate(resolve));

describe("batched lookup", () => {
  it("batched lookup: what is asked together is one question, each key once", async () => {
    const { asked, lookup } = askedInTurn();
    const answers = [lookup.get("a"), lookup.get("b"), lookup.get("a")];
    await turn();
    expect(asked.map(({ keys }) => keys)).toEqual([["a", "b"]]);
    asked[0]?.answer();
    expect(await Promise.all(answers)).toEqual(["a in 0", "b in 0", "a in 0"]);
  });

  it("batched lookup: an answer is never older than its look-up", async () => {
    const { asked, lookup } = askedInTurn();
    const first = lookup.get("a");
    await turn();
    const second = lookup.get("a");
    asked[0]?.answer();
    expect(await first).toBe("a in 0");
    await turn();
    expect(asked).toHaveLength(2);
    asked[1]?.answer();
    expect(await second).toBe("a in 1");
  });

  it("batched lookup: what failed rejects its own askers only; the next question works", async () => {
    const { asked, lookup } = askedInTurn();
    const first = lookup.get("a");
    await turn();
    asked[0]?.fail();
    await expect(first).rejects.toThrow("away");
    const second = lookup.get("a");
    await turn();
    asked[1]?.answer();
    expect(await second).toBe("a in 1");
  });

  it("batched lookup: undefined for what was not found", async () => {
    const lookup = new BatchedLookup<string>(async () => new Map());
    expect(await lookup.get("a")).toBeUndefined();
  });
});
