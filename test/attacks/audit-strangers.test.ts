import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { AttackedService } from "../support/attacked-service.ts";
import { awayFromFullHour } from "../support/full-hour.ts";

let house: AttackedService;
let admin: Awaited<ReturnType<AttackedService["addUser"]>>;

beforeAll(async () => {
  await awayFromFullHour();
  house = await AttackedService.open();
  admin = await house.addUser("admin");
});

afterAll(() => house.close());

async function entries(): Promise<number> {
  const [row] = await house.sql<{ n: number }>("select count(*)::int as n from audit_log");
  return row?.n ?? 0;
}

function verify(query: string) {
  return house.call("GET", `/admin/audit/verify${query}`, admin.headers);
}

describe("strangers and the audit log", () => {
  it("audit: anonymous calls do not make it grow with each of them", async () => {
    const before = await entries();
    for (let n = 0; n < 30; n += 1) {
      const bad = await house.call("POST", "/auth/validate-magic-link", {}, { token: `x${n}` });
      expect(bad.status).toBe(401);
    }
    for (let n = 0; n < 12; n += 1) {
      const login = { email: `nobody-${n}@example.org`, password: "a guess" };
      expect((await house.call("POST", "/auth/login", {}, login)).status).toBe(401);
    }
    expect((await entries()) - before).toBe(2);
    const overview = await house.call("GET", "/admin/overview", admin.headers);
    expect(overview.body.failed_sign_ins).toEqual({ this_hour: 42, accounts: 1 });
    const log = await house.call("GET", "/admin/audit?kind=login_failed", admin.headers);
    expect(log.body.items).toMatchObject([
      { detail: { reason: "unknown_account" }, addresses: ["127.0.0.1"] },
      { detail: { reason: "bad_link" }, addresses: ["127.0.0.1"] },
    ]);
  });

  it("audit: one request verifies as many entries as it asks for, at most 50,000", async () => {
    for (let n = 0; n < 5; n += 1) {
      await house.sql(
        `insert into audit_log (id, kind, actor_kind) values (gen_random_uuid(), 'user_enabled', 'system')`,
      );
    }
    const total = await entries();
    let sum = 0;
    let query = "?limit=2";
    for (let page = 0; page < total; page += 1) {
      const { status, body } = await verify(query);
      expect([status, body.valid]).toEqual([200, true]);
      expect(Number(body.entries)).toBeLessThanOrEqual(2);
      sum += Number(body.entries);
      const next = body.next as { seq: number; hash: string } | undefined;
      if (next === undefined) break;
      query = `?limit=2&from_seq=${next.seq}&from_hash=${next.hash}`;
    }
    expect(sum).toBe(total);
    for (const bad of ["?limit=50001", "?limit=0", "?from_seq=2", `?from_hash=${"0".repeat(64)}`]) {
      expect((await verify(bad)).status).toBe(400);
    }
    const forged = await verify(`?from_seq=2&from_hash=${"0".repeat(64)}`);
    expect(forged.body).toMatchObject({ valid: false, broken_seq: 2 });
  });
});
