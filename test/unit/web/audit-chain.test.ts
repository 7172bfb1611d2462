import { describe, expect, it } from "vitest";
import type { AuditVerdict } from "../../../src/web/api/records.ts";
import { headIn, proveChain } from "../../../src/web/views/admin/audit-chain.ts";

const HASH = "ab".repeat(32);

function answers(...all: AuditVerdict[]) {
  const asked: unknown[] = [];
  return {
    asked,
    ask: async (from: unknown) => {
      asked.push(from);
      const next = all.shift();
      if (next === undefined) throw new Error("Asked too often.");
      return next;
    },
  };
}

const going = new AbortController().signal;

describe("audit chain", () => {
  it("audit chain: is followed part by part to its end", async () => {
    const next = { seq: 50, hash: HASH };
    const head = { seq: 70, hash: HASH };
    const { ask, asked } = answers(
      { valid: true, entries: 50, next, protected: true },
      { valid: true, entries: 20, head, protected: true },
    );
    const heard: number[] = [];
    const proof = await proveChain(ask, (entries) => heard.push(entries), going);
    expect(proof).toEqual({ kind: "right", entries: 70, head, isProtected: true });
    expect(asked).toEqual([undefined, next]);
    expect(heard).toEqual([50, 70]);
  });

  it("audit chain: the first part that is not right ends it", async () => {
    const { ask } = answers({
      valid: false,
      entries: 3,
      broken_seq: 4,
      problem: "Its hash is another.",
      protected: true,
    });
    expect(await proveChain(ask, () => undefined, going)).toEqual({
      kind: "wrong",
      entries: 3,
      seq: 4,
      problem: "Its hash is another.",
    });
  });

  it("audit chain: does not go in circles, and stops when told", async () => {
    const next = { seq: 5, hash: HASH };
    const part = { valid: true, entries: 5, next, protected: true };
    const { ask } = answers(part, part, part);
    await expect(proveChain(ask, () => undefined, going)).rejects.toThrow("does not go on");
    const stop = new AbortController();
    const stopped = proveChain(answers(part, part).ask, () => stop.abort(), stop.signal);
    await expect(stopped).rejects.toThrow(/abort/i);
  });

  it("audit chain: takes an end as it is kept, and nothing else", () => {
    expect(headIn(` 12:${HASH.toUpperCase()} `)).toBe(`12:${HASH}`);
    for (const odd of ["", "12", `0:${HASH}`, `12:${HASH}0`, `12 ${HASH}`]) {
      expect(headIn(odd)).toBeUndefined();
    }
  });
});
