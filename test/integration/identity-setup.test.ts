import { execFile } from "node:child_process";
import { resolve } from "node:path";
import { promisify } from "node:util";
import type { DatabasePool } from "slonik";
import { sql } from "slonik";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { PasswordHasher } from "../../src/auth/password-hasher.ts";
import { newId } from "../../src/base/ids.ts";
import { LoginStore } from "../../src/store/logins.ts";
import { createPool } from "../../src/store/pool.ts";
import { UserStore } from "../../src/store/users.ts";
import { auditLines } from "../support/audit-lines.ts";
import { createTestDatabase, type TestDatabase } from "../support/postgres.ts";

const run = promisify(execFile);
const SETUP = resolve(import.meta.dirname, "../../src/setup.ts");
const EMAIL = "admin@example.org";

describe("the administrator's password in the settings", () => {
  const passwords = new PasswordHasher();
  let database: TestDatabase;
  let pool: DatabasePool;
  let users: UserStore;

  beforeAll(async () => {
    database = await createTestDatabase();
    pool = await createPool(database.serviceUrl, { maximumPoolSize: 2 });
    users = new UserStore(pool);
  });

  afterAll(async () => {
    await pool.end();
    await database.drop();
  });

  async function setUp(password: string, email = EMAIL): Promise<boolean> {
    const env = {
      DATABASE_OWNER_URL: database.ownerUrl,
      DATABASE_URL: database.serviceUrl,
      ADMIN_EMAIL: email,
      ADMIN_PASSWORD: password,
    };
    const { stdout } = await run(process.execPath, [SETUP], { env, timeout: 60_000 });
    return (JSON.parse(stdout) as { admin_password_works: boolean }).admin_password_works;
  }

  async function isPassword(password: string, email = EMAIL): Promise<boolean> {
    return passwords.verify((await users.findByEmail(email))?.passwordHash, password);
  }

  async function choose(password: string, email = EMAIL): Promise<void> {
    const hashed = await passwords.hash(password);
    await pool.query(sql.unsafe`update users set password_hash = ${hashed} where email = ${email}`);
  }

  it("changed: applied, and every login ends; unchanged: nothing happens", async () => {
    expect(await setUp("first password")).toBe(true);
    const { id, passwordHash } = (await users.findByEmail(EMAIL)) ?? { id: "", passwordHash: "" };
    const logins = new LoginStore(pool);
    const loginId = newId();
    await logins.open({ id: loginId, userId: id, passwordHash, expiresAt: Date.now() + 60_000 });
    expect(await setUp("first password")).toBe(true);
    expect(await logins.standing(loginId)).toBeDefined();
    expect(await setUp("second password")).toBe(true);
    expect(await isPassword("second password")).toBe(true);
    expect(await logins.standing(loginId)).toBeUndefined();
    const kinds = (await auditLines(pool, id)).map((line) => line.kind);
    expect(kinds).toEqual(["user_created", "password_changed"]);
  });

  it("chosen by the user: stays while the settings do, and is known not to be theirs", async () => {
    await choose("my own password");
    expect(await setUp("second password")).toBe(false);
    expect(await isPassword("my own password")).toBe(true);
    expect(await setUp("third password")).toBe(true);
    expect(await isPassword("third password")).toBe(true);
  });

  it("another account: one that the set-up did not make keeps its password", async () => {
    const email = "someone@example.org";
    const passwordHash = await passwords.hash("their password");
    await users.insert({ id: newId(), email, name: "", role: "participant", passwordHash });
    expect(await setUp("third password", email)).toBe(false);
    expect(await isPassword("their password", email)).toBe(true);
    expect(await setUp("their password", email)).toBe(true);
    expect(await setUp("fourth password", email)).toBe(true);
    expect(await isPassword("fourth password", email)).toBe(true);
  });

  it("disabled: the password does not work, so it is not said to", async () => {
    const user = await users.findByEmail(EMAIL);
    await users.setDisabled(user?.id ?? "", true);
    expect(await setUp("third password")).toBe(false);
  });
});
