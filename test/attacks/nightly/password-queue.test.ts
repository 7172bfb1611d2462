import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { newId } from "../../../src/base/ids.ts";
import { PasswordHasher } from "../../../src/tenancy/accounts/passwords.ts";
import { PASSWORD } from "../../support/account-fixture.ts";
import { HttpFixture } from "../../support/http-fixture.ts";

let http: HttpFixture;

beforeAll(async () => {
  http = await HttpFixture.open({}, { trustProxy: 1 });
});

afterAll(() => http.close());

/** A login as a trusted proxy reports it from this address. */
function login(from: string, email: string, password = "not the password") {
  const headers = { "x-forwarded-for": from };
  return http.call("POST", "/auth/login", { body: { email, password }, headers });
}

const stranger = () => `${newId()}@example.org`;

describe("password queue", () => {
  it("has a turn for each address, however many guesses others have waiting", async () => {
    const passwords = new PasswordHasher({ concurrency: 1, queue: 12, share: 6 });
    const hashed = await passwords.hash(PASSWORD);
    const ended: string[] = [];
    const ask = async (from: string, guess: string, known = false): Promise<string> => {
      try {
        const right = await passwords.verify(hashed, guess, { from, known });
        ended.push(from);
        return right ? "right" : "wrong";
      } catch (error) {
        return (error as { code: string }).code;
      }
    };
    // The decoy is made at the first question.
    await ask("nobody", "first");
    const flood = Array.from({ length: 40 }, (_, n) => ask(`192.0.2.${n % 4}`, `guess ${n}`));
    const owner = ask("198.51.100.7", PASSWORD);
    const knownOwner = ask("198.51.100.8", PASSWORD, true);
    expect(await owner).toBe("right");
    expect(await knownOwner).toBe("right");
    const outcomes = await Promise.all(flood);
    // The first of each of the four addresses, one that ran, and known askers in between.
    expect(ended.indexOf("198.51.100.7")).toBeLessThanOrEqual(8);
    expect(ended.indexOf("198.51.100.8")).toBeLessThanOrEqual(3);
    expect(outcomes.filter((outcome) => outcome === "overloaded").length).toBeGreaterThan(20);
  });

  it("counts all addresses of an IPv6 /64 as one that guesses at an account", async () => {
    const { email } = await http.accounts.addUser();
    const statuses: number[] = [];
    for (let n = 1; n <= 12; n += 1) {
      statuses.push((await login(`2001:db8:1:2:${n}::${n}`, email)).status);
    }
    expect(statuses).toEqual([...Array(10).fill(401), 429, 429]);
    expect((await login("2001:db8:1:3::1", email)).status).toBe(401);
  });

  it("refuses one who tries many accounts before another hash, and no neighbour", async () => {
    const { accounts } = http;
    const { email } = await accounts.addUser();
    // Somebody who signed in from there before.
    expect((await login("203.0.113.9", email, PASSWORD)).status).toBe(200);
    const statuses: number[] = [];
    for (let n = 0; n < 130; n += 1) statuses.push((await login("203.0.113.9", stranger())).status);
    expect(statuses.filter((status) => status === 401)).toHaveLength(100);
    expect(statuses.slice(100).every((status) => status === 429)).toBe(true);
    expect((await login("203.0.113.9", email, PASSWORD)).status).toBe(200);
    expect((await login("203.0.113.10", stranger())).status).toBe(401);
  });
});
