import { afterEach, describe, expect, it } from "vitest";
import { account } from "../../../src/web/api/account.ts";
import { chosenWorkspace, rememberWorkspace } from "../../../src/web/parts/chosen-workspace.ts";

const BOTH = [{ id: "w1" }, { id: "w2" }];

function signIn(id: string): void {
  const rest = { token: "t", isRemembered: false, email: "a@example.org", role: "participant" };
  account.value = { kind: "user", id, ...rest, role: "participant" };
}

describe("the workspace for something new", () => {
  afterEach(() => {
    account.value = undefined;
  });

  it("is the one that the account chose last, while it is there, else the first", () => {
    signIn("ada");
    expect(chosenWorkspace(BOTH)).toBe("w1");
    expect(chosenWorkspace([])).toBe("");
    rememberWorkspace("w2");
    expect(chosenWorkspace(BOTH)).toBe("w2");
    expect(chosenWorkspace([{ id: "w3" }])).toBe("w3");
    signIn("bob");
    expect(chosenWorkspace(BOTH)).toBe("w1");
    signIn("ada");
    expect(chosenWorkspace(BOTH)).toBe("w2");
  });
});
