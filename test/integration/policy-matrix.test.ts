import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { CALLERS, type Caller } from "../support/policy-callers.ts";
import { POLICY_TABLE } from "../support/policy-table.ts";
import { FEW_CALLERS, PolicyWalk } from "../support/policy-walk.ts";

const TABLE = "test/support/policy-table.ts";

/** All callers of all routes take their time: the nightly has them. */
const EVERY = 4;

function isCalling(caller: Caller, at: number, route: string): boolean {
  return FEW_CALLERS.includes(caller) || (at + route.length) % EVERY === 0;
}

describe("policy", () => {
  let walk: PolicyWalk;
  beforeAll(async () => {
    walk = await PolicyWalk.open();
  });
  afterAll(() => walk?.close());

  it("matrix: every route has a row, and every row a route", () => {
    const missing = walk.routes.filter((id) => POLICY_TABLE[id] === undefined);
    expect(missing, `Say in ${TABLE} who may call these`).toEqual([]);
    const left = Object.keys(POLICY_TABLE).filter((id) => !walk.routes.includes(id));
    expect(left, `Rows of ${TABLE} without a route`).toEqual([]);
  });

  it("matrix: a few callers of each route in each state, and every caller of some, are answered as the table says", async () => {
    const { calls, wrong } = await walk.run((state, route) =>
      state === "live" ? CALLERS.filter((caller, at) => isCalling(caller, at, route)) : FEW_CALLERS,
    );
    expect(wrong, `of ${calls} calls`).toEqual([]);
    expect(calls).toBeGreaterThan(2_000);
  }, 300_000);
});
