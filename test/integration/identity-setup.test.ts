import { type DatabasePool, sql } from "slonik";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { newId } from "../../src/base/ids.ts";
import { createPool } from "../../src/postgres/pool.ts";
import { setUpDatabase } from "../../src/roles/set-up-database.ts";
import { PasswordHasher } from "../../src/tenancy/accounts/passwords.ts";
import { LoginStore } from "../../src/tenancy/accounts/sign-in-store.ts";
import { UserStore } from "../../src/tenancy/accounts/users-store.ts";
import { auditLines } from "../support/audit-lines.ts";
import { createTestDatabase, type TestDatabase } from "../support/postgres.ts";

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
    return (await setUpDatabase(env)).admin_password_works;
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
    expect(await logins.status(loginId)).toBeDefined();
    expect(await setUp("second password")).toBe(true);
    expect(await isPassword("second password")).toBe(true);
    expect(await logins.status(loginId)).toBeUndefined();
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

  it("of two machines: each is applied once, so that they do not undo each other's", async () => {
    const email = "two@example.org";
    expect(await setUp("password of one", email)).toBe(true);
    expect(await setUp("password of two", email)).toBe(true);
    // The first machine starts again, and so does the second.
    expect(await setUp("password of one", email)).toBe(false);
    expect(await isPassword("password of two", email)).toBe(true);
    await choose("my own password", email);
    expect(await setUp("password of two", email)).toBe(false);
    expect(await setUp("password of one", email)).toBe(false);
    expect(await isPassword("my own password", email)).toBe(true);
    expect(await setUp("a third password", email)).toBe(true);
    expect(await isPassword("a third password", email)).toBe(true);
  });

  it("disabled: the password does not work, so it is not said to", async () => {
    const user = await users.findByEmail(EMAIL);
    await users.setDisabled(user?.id ?? "", true);
    expect(await setUp("third password")).toBe(false);
  });
});

describe("a password that was made for a first start", () => {
  const passwords = new PasswordHasher();
  let database: TestDatabase;
  let pool: DatabasePool;

  beforeEach(async () => {
    database = await createTestDatabase();
    pool = await createPool(database.serviceUrl, { maximumPoolSize: 2 });
  });

  afterEach(async () => {
    await pool.end();
    await database.drop();
  });

  async function setUp(settings: Record<string, string>): Promise<string> {
    const { ownerUrl, serviceUrl } = database;
    const env = { DATABASE_OWNER_URL: ownerUrl, DATABASE_URL: serviceUrl, ...settings };
    return (await setUpDatabase(env)).admin_password;
  }

  const made = (password: string, email = EMAIL) =>
    setUp({ ADMIN_EMAIL: email, ADMIN_FIRST_PASSWORD: password });

  async function isPassword(password: string): Promise<boolean> {
    const user = await new UserStore(pool).findByEmail(EMAIL);
    return passwords.verify(user?.passwordHash, password);
  }

  it("makes the first administrator, and never changes an account", async () => {
    expect(await made("made at machine one")).toBe("works");
    expect(await made("made at machine two")).toBe("elsewhere");
    expect(await isPassword("made at machine one")).toBe(true);
    expect(await made("made at machine one")).toBe("works");
    expect(await made("made at machine two", "another@example.org")).toBe("elsewhere");
    const { rows } = await pool.query(sql.unsafe`select email from users`);
    expect(rows).toEqual([{ email: EMAIL }]);
  });

  it("is replaced by one that a person gives, and never comes back", async () => {
    await made("made at machine one");
    const given = { ADMIN_EMAIL: EMAIL, ADMIN_PASSWORD: "given by a person" };
    expect(await setUp(given)).toBe("works");
    expect(await made("made at machine one")).toBe("replaced");
    expect(await isPassword("given by a person")).toBe(true);
  });

  it("of two machines that start at once: one makes it, and that one's works", async () => {
    const words = ["made at machine one", "made at machine two"];
    const states = await Promise.all(words.map((password) => made(password)));
    expect([...states].sort()).toEqual(["elsewhere", "works"]);
    expect(await isPassword(words[states.indexOf("works")] ?? "")).toBe(true);
  });

  it("without a database: the refusal says where none was reached", async () => {
    const settings = { ADMIN_EMAIL: EMAIL, ADMIN_FIRST_PASSWORD: "made at machine one" };
    const nobody = "postgres://voice@127.0.0.1:1/voice";
    await expect(setUpDatabase({ ...settings, DATABASE_URL: nobody })).rejects.toThrow(
      "PostgreSQL at 127.0.0.1:1 is not reachable",
    );
  });

  it("with rights to nothing: the refusal names the setting", async () => {
    const env = { ADMIN_EMAIL: EMAIL, ADMIN_FIRST_PASSWORD: "made at machine one" };
    const empty = await createTestDatabase();
    const failed = setUpDatabase({ ...env, DATABASE_URL: empty.serviceUrl });
    await expect(failed).rejects.toThrow(/voice_service that DATABASE_OWNER_URL names/);
    await empty.drop();
  });
});
