import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { newId } from "../../src/base/ids.ts";
import { PasswordHasher } from "../../src/tenancy/accounts/passwords.ts";
import { AttackedService } from "../support/attacked-service.ts";

const PASSWORD = "correct horse battery staple";
const LONG_AGO = 20 * 60_000;

let house: AttackedService;
let hashed: string;

beforeAll(async () => {
  house = await AttackedService.open();
  hashed = await new PasswordHasher().hash(PASSWORD);
});

afterAll(() => house.close());

type Headers = Readonly<Record<string, string>>;

function erase(headers: Headers, password?: string) {
  const body = password === undefined ? undefined : { current_password: password };
  return house.call("DELETE", "/users/me", headers, body);
}

async function person() {
  const user = await house.addUser("participant", `${newId()}@example.org`, hashed);
  return { ...user, stolen: await house.signIn(user.id, LONG_AGO) };
}

async function isErased(userId: string): Promise<boolean> {
  const [row] = await house.sql<{ erased: boolean }>(
    "select erased_at is not null as erased from users where id = $1",
    [userId],
  );
  return row?.erased === true;
}

describe("account erasure", () => {
  it("account erasure: a stolen token alone erases nothing", async () => {
    const { id, stolen } = await person();
    const answer = await erase(stolen);
    expect([answer.status, answer.code]).toEqual([403, "proof_required"]);
    expect(answer.text).toMatch(/current_password.*sign in again/);
    expect((await erase(stolen, "")).status).toBe(401);
    expect(await isErased(id)).toBe(false);
  });

  it("account erasure: nor with guesses at the password", async () => {
    const { id, stolen } = await person();
    const codes: (string | null)[] = [];
    for (let n = 0; n < 8; n += 1) codes.push((await erase(stolen, `a guess ${n}`)).code);
    expect(codes.slice(0, 5)).toEqual(Array(5).fill("invalid_credentials"));
    expect(codes.slice(5)).toEqual(Array(3).fill("rate_limited"));
    expect((await erase(stolen, PASSWORD)).code).toBe("rate_limited");
    expect(await isErased(id)).toBe(false);
  });

  it("account erasure: a token that a thief keeps fresh by refreshing proves nothing", async () => {
    const { id, email } = await person();
    const login = { email, password: PASSWORD, remember_me: true };
    const { body } = await house.call("POST", "/auth/login", {}, login);
    await house.sql(
      "update logins set created_at = created_at - interval '20 minutes' where user_id = $1",
      [id],
    );
    const refresh = { authorization: `Bearer ${String(body.refresh_token)}` };
    const fresh = await house.call("GET", "/auth/refresh-token", refresh);
    expect(fresh.status).toBe(200);
    const answer = await erase({ authorization: `Bearer ${String(fresh.body.token)}` });
    expect(answer.code).toBe("proof_required");
    expect(await isErased(id)).toBe(false);
  });

  it("account erasure: the owner does it by password, or right after signing in", async () => {
    const byPassword = await person();
    expect((await erase(byPassword.stolen, PASSWORD)).status).toBe(200);
    expect(await isErased(byPassword.id)).toBe(true);
    const withoutPassword = await house.addUser();
    expect((await erase(withoutPassword.headers)).status).toBe(200);
    expect(await isErased(withoutPassword.id)).toBe(true);
  });

  it("account erasure: an account without a password is not opened by any", async () => {
    const { id } = await house.addUser();
    const stolen = await house.signIn(id, LONG_AGO);
    for (const password of ["", "null", "undefined"]) {
      expect((await erase(stolen, password)).status).toBe(401);
    }
    expect(await isErased(id)).toBe(false);
  });
});
