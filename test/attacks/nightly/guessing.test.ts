import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { newId } from "../../../src/base/ids.ts";
import { PASSWORD } from "../../support/account-fixture.ts";
import { HttpFixture } from "../../support/http-fixture.ts";

const OVER = 70;

let fixture: HttpFixture;
const links: string[] = [];

beforeAll(async () => {
  fixture = await HttpFixture.open();
  fixture.accounts.mail = {
    async send({ text }) {
      links.push(/token=(\w+)/.exec(text)?.[1] ?? "");
    },
  };
});

afterAll(() => fixture.close());

/** The code of the answer to a login from this address, or `in`. */
async function tryFrom(address: string, email: string, password: string): Promise<string> {
  try {
    await fixture.accounts.signIn.login({ email, password, remember: false, address });
    return "in";
  } catch (error) {
    return (error as { code: string }).code;
  }
}

/** Guesses at one account, each from an address of its own. */
async function spread(email: string): Promise<string[]> {
  const codes: string[] = [];
  for (let n = 0; n < OVER; n += 1) codes.push(await tryFrom(newId(), email, `a guess ${n}`));
  return codes;
}

function count(codes: readonly string[], code: string): number {
  return codes.filter((each) => each === code).length;
}

describe("guessing", () => {
  it("guessing: many addresses do not try one account's password without end", async () => {
    const { email } = await fixture.accounts.addUser();
    const codes = await spread(email);
    expect(count(codes, "invalid_credentials")).toBe(50);
    expect(count(codes, "rate_limited")).toBe(OVER - 50);
    // Nor does the right password tell, once the budget is spent.
    expect(await tryFrom(newId(), email, PASSWORD)).toBe("rate_limited");
  });

  it("guessing: an account that is not there answers alike", async () => {
    const codes = await spread(`${newId()}@example.org`);
    expect(count(codes, "invalid_credentials")).toBe(50);
    expect(count(codes, "rate_limited")).toBe(OVER - 50);
  });

  it("guessing: the owner still gets in where they signed in before, and by a link", async () => {
    const { email } = await fixture.accounts.addUser();
    expect(await tryFrom("192.0.2.7", email, PASSWORD)).toBe("in");
    await spread(email);
    expect(await tryFrom("192.0.2.7", email, PASSWORD)).toBe("in");
    expect(await tryFrom("192.0.2.8", email, PASSWORD)).toBe("rate_limited");
    await fixture.call("POST", "/auth/request-magic-link", { body: { email } });
    await fixture.accounts.background.idle();
    const token = links.at(-1);
    const entered = await fixture.call("POST", "/auth/validate-magic-link", { body: { token } });
    expect(entered.status).toBe(200);
    expect(await tryFrom("127.0.0.1", email, PASSWORD)).toBe("in");
  });

  it("guessing: a known place has no endless budget either", async () => {
    const { email } = await fixture.accounts.addUser();
    expect(await tryFrom("192.0.2.9", email, PASSWORD)).toBe("in");
    const codes: string[] = [];
    for (let n = 0; n < 15; n += 1) codes.push(await tryFrom("192.0.2.9", email, `a guess ${n}`));
    expect(count(codes, "rate_limited")).toBe(5);
  });

  it("guessing: signing in does not use up the budget, whatever the address", async () => {
    const { email } = await fixture.accounts.addUser();
    for (let n = 0; n < OVER; n += 1) expect(await tryFrom(newId(), email, PASSWORD)).toBe("in");
  });

  it("guessing: passwords that everybody tries first are not taken", async () => {
    const admin = await fixture.accounts.addUser("admin");
    const bearer = await fixture.signIn(admin.email);
    for (const password of ["password1", "12345678", "QWERTYUIOP", "iloveyou1", "Football"]) {
      const body = { email: `${newId()}@example.org`, password };
      const made = await fixture.call("POST", "/users", { bearer, body });
      expect([password, made.status]).toEqual([password, 400]);
      expect(made.body.message).toMatch(/most common/);
      const change = { current_password: PASSWORD, new_password: password };
      const changed = await fixture.call("POST", "/auth/password", { bearer, body: change });
      expect([password, changed.status]).toEqual([password, 400]);
    }
  });
});
