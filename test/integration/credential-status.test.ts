import { sql } from "slonik";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import type { Principal } from "../../src/access/principal.ts";
import { newId } from "../../src/base/ids.ts";
import { AccountFixture } from "../support/account-fixture.ts";
import { codeOf } from "../support/route-call.ts";

const HOUR = 3_600_000;

describe("standing of credentials", () => {
  let fixture: AccountFixture;
  let user: { id: string; email: string };
  let sessionId: string;

  beforeAll(async () => {
    fixture = await AccountFixture.open();
  });

  afterAll(() => fixture.close());

  beforeEach(async () => {
    user = await fixture.addUser();
    sessionId = await addSession(user.id);
  });

  async function addSession(ownerId: string): Promise<string> {
    const id = newId();
    const workspaceId = await fixture.addWorkspace(ownerId);
    await fixture.pool.query(sql.unsafe`
      insert into sessions (id, workspace_id, owner_id, job_id, status)
      values (${id}, ${workspaceId}, ${ownerId}, ${newId()}, 'recording')`);
    return id;
  }

  it("refresh: until 12 h after the login, however often it was used, and not a second more", async () => {
    const { refreshToken = "" } = await fixture.login(user.email, true);
    for (let hour = 0; hour < 11; hour += 1) {
      fixture.clock.advance(HOUR);
      const token = await fixture.signIn.refresh(refreshToken);
      expect((await fixture.asUser(token)).kind).toBe("user");
    }
    fixture.clock.advance(HOUR - 2_000);
    const last = await fixture.signIn.refresh(refreshToken);
    fixture.clock.advance(2_001);
    expect(await codeOf(fixture.signIn.refresh(refreshToken))).toBe("invalid_token");
    // The last access token does not outlive the login either.
    expect(await codeOf(fixture.asUser(last))).toBe("invalid_token");
  });

  it("access: 1 h", async () => {
    const { token } = await fixture.login(user.email, true);
    fixture.clock.advance(HOUR - 2_000);
    expect((await fixture.asUser(token)).id).toBe(user.id);
    fixture.clock.advance(2_001);
    expect(await codeOf(fixture.asUser(token))).toBe("invalid_token");
  });

  it("kinds: a refresh token opens nothing but the refresh, an access token no refresh", async () => {
    const { token, refreshToken = "" } = await fixture.login(user.email, true);
    expect(await codeOf(fixture.asUser(refreshToken))).toBe("invalid_token");
    expect(await codeOf(fixture.signIn.refresh(token))).toBe("invalid_token");
    const { token: guestToken } = await fixture.enter(sessionId, "Visitor");
    expect(await codeOf(fixture.signIn.refresh(guestToken))).toBe("invalid_token");
    expect(await codeOf(fixture.asDevice(token))).toBe("invalid_api_key");
  });

  it("disable: without any news the cache still forgets within 2 s", async () => {
    const { token } = await fixture.login(user.email);
    await fixture.asUser(token);
    await fixture.users.setDisabled(user.id, true);
    fixture.clock.advance(2_000);
    expect(await codeOf(fixture.asUser(token))).toBe("invalid_token");
  });

  it("login: a disable that comes between check and record wins", async () => {
    const account = await fixture.users.findByEmail(user.email);
    await fixture.users.setDisabled(user.id, true);
    const login = {
      id: newId(),
      userId: user.id,
      passwordHash: account?.passwordHash ?? "",
      expiresAt: fixture.clock.now() + HOUR,
    };
    expect(await fixture.logins.open(login)).toBe(false);
  });

  it("guest: one session, with name and id; ends when guest access closes or the session goes", async () => {
    for (const change of ["guest_access = 'closed'", "status = 'deleted'"]) {
      const id = await addSession(user.id);
      const { token, guest } = await fixture.enter(id, "Visitor");
      expect(await fixture.asUser(token)).toMatchObject({
        kind: "guest",
        id: guest.guestId,
        role: "guest",
        sessionId: id,
        displayName: "Visitor",
      });
      const set = change.startsWith("status")
        ? sql.unsafe`update sessions set status = 'deleted' where id = ${id}`
        : sql.unsafe`update sessions set guest_access = 'closed' where id = ${id}`;
      await fixture.pool.query(set);
      fixture.revocations.publish({ kind: "session", sessionId: id });
      expect(await codeOf(fixture.asUser(token))).toBe("invalid_token");
      const again = await codeOf(fixture.enter(id, "Visitor"));
      expect(again).toBe(change.startsWith("status") ? "not_found" : "guest_access_closed");
    }
  });

  it("guest: at most 12 h, and no longer than until it leaves", async () => {
    const { token } = await fixture.enter(sessionId, "Visitor");
    const { token: other } = await fixture.enter(sessionId, "Other");
    const leaving = await fixture.asUser(token);
    if (leaving.kind !== "guest") throw new Error("not a guest");
    await fixture.signIn.logout(leaving);
    expect(await codeOf(fixture.asUser(token))).toBe("invalid_token");
    fixture.clock.advance(12 * HOUR - 2_000);
    expect((await fixture.asUser(other)).kind).toBe("guest");
    fixture.clock.advance(2_001);
    expect(await codeOf(fixture.asUser(other))).toBe("invalid_token");
  });

  it("ticket: twenty that redeem one at once, exactly one gets in", async () => {
    for (let round = 0; round < 5; round += 1) {
      const { token } = await fixture.login(user.email);
      const { ticket } = await fixture.liveTickets.issue(await fixture.asUser(token));
      const results = await Promise.allSettled(
        Array.from({ length: 20 }, () => fixture.liveTickets.redeem(ticket)),
      );
      const won = results.filter((result) => result.status === "fulfilled");
      expect(won).toHaveLength(1);
      const [{ value } = {}] = won as PromiseFulfilledResult<Principal>[];
      expect(value).toMatchObject({ kind: "user", id: user.id });
    }
  });

  it("ticket: 30 s, and only while its holder's right stands", async () => {
    const { token } = await fixture.login(user.email);
    const principal = await fixture.asUser(token);
    const late = await fixture.liveTickets.issue(principal);
    fixture.clock.advance(30_000);
    expect(await codeOf(fixture.liveTickets.redeem(late.ticket))).toBe("invalid_token");
    const ended = await fixture.liveTickets.issue(principal);
    if (principal.kind !== "user") throw new Error("not a user");
    await fixture.signIn.logout(principal);
    expect(await codeOf(fixture.liveTickets.redeem(ended.ticket))).toBe("invalid_token");
    expect(await codeOf(fixture.liveTickets.redeem("x".repeat(43)))).toBe("invalid_token");
  });

  it("at rest: no password, key, code, secret or ticket stands in the database in the clear", async () => {
    const workspaceId = await fixture.addWorkspace(user.id);
    const published = await fixture.pairing.publish({ serial: "SN" }, undefined, "here");
    const { code, pairingSecret } = published;
    const approval = { code, workspaceId, ownerId: user.id, address: "here" };
    const { apiKey } = await fixture.pairing.approveWithKey(approval);
    const { token, refreshToken = "" } = await fixture.login(user.email, true);
    const { ticket } = await fixture.liveTickets.issue(await fixture.asUser(token));
    const secrets = [
      code.replace("-", ""),
      code,
      pairingSecret,
      apiKey,
      token,
      refreshToken,
      ticket,
      "correct horse",
    ];
    const { rows } = await fixture.pool.query(sql.unsafe`
      select table_name from information_schema.tables where table_schema = 'public'`);
    for (const { table_name } of rows as { table_name: string }[]) {
      const table = sql.identifier([table_name]);
      const all = await fixture.pool.query(sql.unsafe`select t::text as line from ${table} as t`);
      const text = (all.rows as { line: string }[]).map((row) => row.line).join("\n");
      for (const secret of secrets) {
        expect(text.includes(secret), table_name).toBe(false);
        expect(text.includes(Buffer.from(secret).toString("hex")), table_name).toBe(false);
      }
    }
  });

  it("budget: five at once of a burst of three, three are granted; refund gives one back", async () => {
    const policy = { burst: 3, interval: 10_000 };
    const key = newId();
    const waits = await Promise.all(
      Array.from({ length: 5 }, () => fixture.attempts.take(key, policy)),
    );
    expect(waits.filter((wait) => wait === undefined)).toHaveLength(3);
    expect(Math.max(...waits.map((wait) => wait ?? 0))).toBe(10);
    await fixture.attempts.refund(key, policy);
    expect(await fixture.attempts.take(key, policy)).toBeUndefined();
    expect(await fixture.attempts.take(key, policy)).toBe(10);
    fixture.clock.advance(10_000);
    expect(await fixture.attempts.take(key, policy)).toBeUndefined();
    await fixture.attempts.restore(key);
    expect(await fixture.attempts.take(key, policy)).toBeUndefined();
  });
});
