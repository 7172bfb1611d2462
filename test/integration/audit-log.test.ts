import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { newId } from "../../src/base/ids.ts";
import { createPool } from "../../src/postgres/pool.ts";
import { AuditStore } from "../../src/tenancy/audit/audit-store.ts";
import { PrivacyFixture } from "../support/privacy-fixture.ts";
import { codeOf } from "../support/route-call.ts";

describe("audit log", () => {
  let privacy: PrivacyFixture;

  beforeAll(async () => {
    privacy = await PrivacyFixture.open();
  });
  afterAll(() => privacy.close());

  const record = (name: string) =>
    privacy.audit.record({ kind: "login_failed", actor: { kind: "system" }, detail: { name } });

  it("audit: entries written at once by many form one chain without gaps", async () => {
    await Promise.all(Array.from({ length: 40 }, (_, n) => record(`entry ${n}`)));
    const verdict = await privacy.audit.verify();
    expect(verdict).toMatchObject({ valid: true, protected: true, head: { seq: verdict.entries } });
    expect(verdict.entries).toBeGreaterThanOrEqual(40);
  });

  it("audit: the serving role can neither change, delete nor empty it", async () => {
    for (const text of [
      "update audit_log set detail = '{}'",
      "delete from audit_log",
      "truncate audit_log",
    ]) {
      await expect(privacy.fixture.sql(text)).rejects.toThrow(/permission denied/);
    }
    await expect(privacy.asOwner("update audit_log set detail = '{}'")).rejects.toThrow(
      /append-only/,
    );
  });

  it("audit: one role for everything is told as missing protection", async () => {
    const pool = await createPool(privacy.fixture.ownerUrl, { maximumPoolSize: 1 });
    try {
      expect(await new AuditStore(pool).isProtected()).toBe(false);
    } finally {
      await pool.end();
    }
  });

  it("audit: lists newest first, filtered, page by page", async () => {
    const admin = await privacy.fixture.user("admin");
    const actorId = newId();
    for (let n = 0; n < 5; n += 1) {
      await privacy.audit.record({ kind: "user_enabled", actor: { kind: "user", id: actorId } });
    }
    const query = { actor_id: actorId, kind: "user_enabled", limit: 3 };
    const first = await privacy.body("listAudit", { principal: admin, query });
    const rest = await privacy.body("listAudit", {
      principal: admin,
      query: { ...query, cursor: first.next_cursor },
    });
    const seqs = [first, rest].flatMap((page) =>
      (page.items as { seq: number }[]).map(({ seq }) => seq),
    );
    expect(seqs).toHaveLength(5);
    expect(seqs).toEqual(seqs.toSorted((a, b) => b - a));
    expect(rest.next_cursor).toBeNull();
    const bad = privacy.call("listAudit", { principal: admin, query: { actor_id: "x" } });
    expect(await codeOf(bad)).toBe("invalid_parameter");
  });

  it("audit: what was changed, taken out or cut off shows", async () => {
    await record("before");
    const { head, entries } = await privacy.audit.verify();
    await record("after");
    expect((await privacy.audit.verify(head)).valid).toBe(true);
    const unlocked = (text: string) =>
      privacy.asOwner(`alter table audit_log disable trigger user; ${text};
        alter table audit_log enable trigger user`);
    await unlocked('update audit_log set detail = \'{"name": "forged"}\' where seq = 3');
    expect(await privacy.audit.verify()).toMatchObject({ valid: false, brokenSeq: 3 });
    await unlocked("delete from audit_log where seq <= 3");
    expect(await privacy.audit.verify()).toMatchObject({ valid: false, brokenSeq: 1 });
    await unlocked("delete from audit_log");
    // An emptied log is a whole chain in itself; the head kept elsewhere tells.
    expect((await privacy.audit.verify()).valid).toBe(true);
    expect(await privacy.audit.verify(head)).toMatchObject({ valid: false, brokenSeq: entries });
  });
});
