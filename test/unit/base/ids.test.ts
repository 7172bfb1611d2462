import { describe, expect, it } from "vitest";
import { isId, newId } from "../../../src/base/ids.ts";

const V7 = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

describe("ids", () => {
  it("ids: a UUIDv7 of its millisecond, never the same twice", () => {
    const now = Date.UTC(2026, 10, 22, 4, 5, 6, 789);
    const ids = Array.from({ length: 5_000 }, (_, n) => newId(now + (n % 3)));
    for (const [n, id] of ids.entries()) {
      expect(id).toMatch(V7);
      expect(isId(id)).toBe(true);
      expect(Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16)).toBe(now + (n % 3));
    }
    expect(new Set(ids.map((id) => id.slice(14))).size).toBe(ids.length);
  });

  it("ids: every random digit takes every value, evenly", () => {
    const ids = Array.from({ length: 16_000 }, () => newId());
    for (let at = 15; at < 36; at += 1) {
      if (at === 18 || at === 23) continue;
      const counts = new Map<string, number>();
      for (const id of ids) counts.set(id[at] ?? "", (counts.get(id[at] ?? "") ?? 0) + 1);
      const values = at === 19 ? 4 : 16;
      expect(counts.size, `digit ${at}`).toBe(values);
      // Eight standard deviations away from even would be no chance.
      const mean = ids.length / values;
      for (const count of counts.values())
        expect(Math.abs(count - mean)).toBeLessThan(8 * Math.sqrt(mean));
    }
  });

  it("ids: sort by the time they were made", () => {
    const ids = [1, 20, 3_000, 1_700_000_000_000].map((now) => newId(now));
    expect([...ids].sort()).toEqual(ids);
  });
});
