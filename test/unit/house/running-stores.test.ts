import { expect, it } from "vitest";
import { RUNNING_STORES } from "../../support/running-stores.ts";
import { beginningsOf } from "../../support/store-statements.ts";

it("plans: every store whose plans the nightly looks at is where its name says, with statements", () => {
  for (const name of RUNNING_STORES) expect(beginningsOf(name), name).not.toEqual([]);
});
