import { expect, it } from "vitest";
import { callersThatTell, PolicyWalk } from "../../support/policy-walk.ts";

it("policy: every caller, route and state is answered as the table says", async () => {
  const walk = await PolicyWalk.open();
  try {
    const { calls, wrong } = await walk.run(callersThatTell);
    expect(wrong, `of ${calls} calls`).toEqual([]);
    expect(calls).toBeGreaterThan(4_000);
  } finally {
    await walk.close();
  }
});
