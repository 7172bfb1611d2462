import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { newId } from "../../src/base/ids.ts";
import { FailedSignInStore } from "../../src/tenancy/audit/failed-sign-ins-store.ts";
import { awayFromFullHour } from "../support/full-hour.ts";
import { PrivacyFixture } from "../support/privacy-fixture.ts";

const KEY = new Uint8Array(32);

let privacy: PrivacyFixture;
let failures: FailedSignInStore;

beforeAll(async () => {
  await awayFromFullHour();
  privacy = await PrivacyFixture.open();
  failures = new FailedSignInStore(privacy.fixture.pool, KEY);
});

afterAll(() => privacy.close());

async function count(text: string, values: unknown[] = []): Promise<number> {
  const [row] = await privacy.fixture.sql(`select count(*)::int as n from ${text}`, values);
  return Number(row?.n);
}

/** Lets the hour in which something failed be over. */
async function passAnHour(): Promise<void> {
  await privacy.fixture.sql("update failed_sign_ins set hour = hour - interval '2 hours'");
  await privacy.fixture.sql("update failed_sign_in_addresses set hour = hour - interval '2 hours'");
}

async function verifyInPages(limit: number) {
  const seen: Record<string, unknown>[] = [];
  let next: { seq: number; hash: string } | undefined;
  do {
    const verdict = await privacy.audit.verify(undefined, { from: next, limit });
    seen.push({ ...verdict });
    next = verdict.next;
  } while (next !== undefined);
  return seen;
}

const unlocked = (text: string) =>
  privacy.asOwner(`alter table audit_log disable trigger user; ${text};
    alter table audit_log enable trigger user`);

describe("growth of the audit log by strangers", () => {
  it("audit: a thousand failures are two entries for an account and hour", async () => {
    const { id: accountId } = await privacy.fixture.user("participant");
    const before = await count("audit_log");
    for (let n = 0; n < 250; n += 1) {
      const address = `192.0.2.${n % 200}`;
      await Promise.all([
        failures.recordFailedSignIn({ reason: "wrong_password", accountId, address }),
        failures.recordFailedSignIn({ reason: "unknown_account", address }),
        failures.recordFailedSignIn({ reason: "bad_link", address: newId() }),
        failures.recordFailedSignIn({ reason: "wrong_password", accountId, address: newId() }),
      ]);
    }
    expect(await count("audit_log")).toBe(before + 3);
    expect(await count("failed_sign_ins")).toBe(3);
    // Nor do their addresses pile up.
    expect(await count("failed_sign_in_addresses")).toBe(200);
    await passAnHour();
    while ((await failures.closeHours()) > 0);
    expect(await count("audit_log")).toBe(before + 6);
    expect(await count("failed_sign_ins")).toBe(0);
    const [entry] = await privacy.fixture.sql(
      "select detail from audit_log where subject_id = $1 order by seq desc limit 1",
      [accountId],
    );
    expect(entry?.detail).toMatchObject({
      ...{ reason: "wrong_password", failures: 500, addresses: 100 },
      digests: expect.stringMatching(/^[0-9a-f]{32}( [0-9a-f]{32}){7}$/),
    });
    expect((await privacy.audit.verify()).valid).toBe(true);
  });

  it("audit: an attack shows while it goes on, with where it comes from", async () => {
    const admin = await privacy.fixture.user("admin");
    const { id: accountId } = await privacy.fixture.user("participant");
    await failures.recordFailedSignIn({
      reason: "wrong_password",
      accountId,
      address: "192.0.2.66",
    });
    const query = { subject_id: accountId };
    const { items } = await privacy.body("listAudit", { principal: admin, query });
    expect(items).toMatchObject([{ kind: "login_failed", addresses: ["192.0.2.66"] }]);
    expect(JSON.stringify((items as { detail: unknown }[])[0]?.detail)).not.toContain("192.0.2.66");
  });

  it("audit: addresses end by time and with their account; the chain stays whole", async () => {
    const admin = await privacy.fixture.user("admin");
    const { id: accountId } = await privacy.fixture.user("participant");
    const failed = (address: string) =>
      failures.recordFailedSignIn({ reason: "wrong_password", accountId, address });
    const shown = async () => {
      const query = { subject_id: accountId, kind: "login_failed" };
      const { items } = await privacy.body("listAudit", { principal: admin, query });
      return (items as { addresses?: string[] }[]).flatMap(({ addresses }) => addresses ?? []);
    };
    await failed("192.0.2.77");
    expect(await shown()).toEqual(["192.0.2.77"]);
    await privacy.fixture.sql(
      "update failed_sign_in_addresses set seen_at = seen_at - interval '31 days'",
    );
    await failures.forgetAddresses(30);
    expect(await shown()).toEqual([]);
    await passAnHour();
    await failed("192.0.2.78");
    expect(await shown()).toEqual(["192.0.2.78"]);
    await privacy.accounts.erase(accountId);
    expect(await count("failed_sign_in_addresses where account_id = $1", [accountId])).toBe(0);
    expect((await privacy.audit.verify()).valid).toBe(true);
    const texts = await privacy.fixture.sql("select detail::text as text from audit_log");
    expect(texts.some(({ text }) => String(text).includes("192.0.2."))).toBe(false);
  });

  it("audit: a long log is verified in bounded pages, from any head that is known", async () => {
    for (let n = 0; n < 60; n += 1) {
      await privacy.audit.record({ kind: "user_enabled", actor: { kind: "system" } });
    }
    const total = await count("audit_log");
    const pages = await verifyInPages(7);
    expect(pages.length).toBe(Math.ceil(total / 7));
    expect(pages.every(({ valid, entries }) => valid === true && Number(entries) <= 7)).toBe(true);
    expect(pages.reduce((sum, { entries }) => sum + Number(entries), 0)).toBe(total);
    const whole = await privacy.audit.verify();
    expect(pages.at(-1)?.head).toEqual(whole.head);
    // A head of today is a beginning tomorrow, and shows a log that was cut short before it.
    const from = whole.head;
    await privacy.audit.record({ kind: "user_enabled", actor: { kind: "system" } });
    expect(await privacy.audit.verify(undefined, { from })).toMatchObject({
      ...{ valid: true, entries: 1, next: undefined },
      head: { seq: total + 1 },
    });
    const ahead = { seq: total + 50, hash: "0".repeat(64) };
    expect((await privacy.audit.verify(undefined, { from: ahead })).valid).toBe(false);
    expect((await privacy.audit.verify(ahead, { from })).valid).toBe(false);
  });

  it("audit: an entry that was changed shows in its page, and the pages before it are right", async () => {
    const total = await count("audit_log");
    const bad = total - 10;
    const head = (await privacy.audit.verify()).head;
    await unlocked(`update audit_log set detail = '{"forged": true}' where seq = ${bad}`);
    const pages = await verifyInPages(7);
    expect(pages.length).toBe(Math.ceil(bad / 7));
    expect(pages.slice(0, -1).every(({ valid }) => valid === true)).toBe(true);
    expect(pages.at(-1)).toMatchObject({ valid: false, brokenSeq: bad });
    // A forger who also computes its hash again breaks the link to the entry after it.
    await unlocked(`update audit_log a set hash = sha256(convert_to(audit_text(a), 'UTF8'))
      where seq = ${bad}`);
    expect((await verifyInPages(7)).at(-1)).toMatchObject({ valid: false, brokenSeq: bad + 1 });
    // One who forges from there to the end is found by the head that was kept.
    expect(head?.seq).toBe(total);
  });
});
