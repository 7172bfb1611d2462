import { describe, expect, it } from "vitest";
import { errorMessage } from "../../../../src/base/errors.ts";
import { SignIn } from "../../../../src/tenancy/accounts/sign-in.ts";

type Options = ConstructorParameters<typeof SignIn>[0];

async function refusal(sendsLinks: boolean): Promise<string> {
  const options = { sendsLinks, attempts: { take: async () => 9 } };
  const signIn = new SignIn(options as unknown as Options);
  const wish = { email: "a@example.org", password: "x", remember: false, address: "192.0.2.1" };
  return signIn.login(wish).then(() => "none", errorMessage);
}

describe("too many guesses", () => {
  it("shows a way in that this installation has", async () => {
    expect(await refusal(true)).toMatch(/wait 9 s, or have a sign-in link sent\.$/);
    expect(await refusal(false)).toMatch(/wait 9 s, or sign in from where you did before/);
  });
});
