import { existsSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { newId } from "../../src/base/ids.ts";
import { retentionList } from "../../src/conversations/erasure/session-erasure.ts";
import { RetentionStore } from "../../src/conversations/erasure/session-erasure-store.ts";
import { PostgresSegmentEdits } from "../../src/conversations/transcript/segments-store.ts";
import { makeWav } from "../support/make-wav.ts";
import { PrivacyFixture, type Recorded } from "../support/privacy-fixture.ts";
import { codeOf } from "../support/route-call.ts";

/** Any of these in the database after a deletion is a leak. */
const WORDS = ["secret", "pineapple", "Secret plans"];

describe("deletion", () => {
  let privacy: PrivacyFixture;

  beforeAll(async () => {
    privacy = await PrivacyFixture.open();
  });
  afterAll(() => privacy.close());

  const remove = (recorded: Recorded, principal = recorded.owner) =>
    privacy.body("deleteSession", { principal, params: { session_id: recorded.sessionId } });
  const detail = async (jobId: string) =>
    privacy.body("getTranscriptionJob", {
      principal: await privacy.fixture.user("admin"),
      params: { job_id: jobId },
    });

  /** Every row of every table that mentions the session, as text. */
  async function traces(sessionId: string): Promise<string> {
    const tables = await privacy.fixture.sql<{ name: string }>(
      `select c.table_name as name from information_schema.columns c
       where c.table_schema = 'public' and c.column_name = 'session_id'`,
    );
    const found: string[] = [];
    for (const { name } of tables) {
      const rows = await privacy.fixture.sql(
        `select t::text as text from "${name}" t where t.session_id = $1`,
        [sessionId],
      );
      found.push(...rows.map(({ text }) => `${name}: ${text}`));
    }
    const session = await privacy.fixture.sql(
      "select s::text as text from sessions s where id = $1",
      [sessionId],
    );
    return [...found, ...session.map(({ text }) => text)].join("\n");
  }

  it("by its owner: nothing of the words is left in any table or folder", async () => {
    const recorded = await privacy.record();
    const { sessionId } = recorded;
    await privacy.fixture.sql(
      "insert into guests (id, session_id, display_name, expires_at) values ($1, $2, 'Secret Gus', now())",
      [newId(), sessionId],
    );
    const folder = join(privacy.fixture.folder, sessionId);
    expect(existsSync(folder)).toBe(true);
    expect(await traces(sessionId)).toContain("pineapple");
    const receipt = await remove(recorded);
    expect(receipt).toMatchObject({
      success: true,
      kind: "session_deleted_by_owner",
      removed: { segments: 2, words: 5, audio_chunks: 2, guests: 1 },
      audio_erased: true,
    });
    const left = await traces(sessionId);
    for (const word of WORDS) expect(left.toLowerCase()).not.toContain(word.toLowerCase());
    expect(existsSync(folder)).toBe(false);
    expect(privacy.published).toContain(sessionId);
    expect(privacy.woken).toContain(sessionId);
    expect(privacy.revoked).toContainEqual({ kind: "session", sessionId });
  });

  it("2.7 rules 4 and 5: the job still answers, with placeholder and kind", async () => {
    const byOwner = await privacy.record();
    await remove(byOwner);
    const byAdmin = await privacy.record();
    await remove(byAdmin, await privacy.fixture.user("admin"));
    const expected = {
      content_visible: false,
      elevation_required: false,
      session_was_deleted: true,
      transcription_text: "[redacted-session-deleted]",
    };
    expect(await detail(byOwner.jobId)).toMatchObject({
      ...expected,
      deletion_event_kind: "session_deleted_by_owner",
    });
    const admins = await detail(byAdmin.jobId);
    expect(admins).toMatchObject({ ...expected, deletion_event_kind: "session_deleted_by_admin" });
    for (const { text } of admins.segments as { text: string }[]) {
      expect(text).toBe("[redacted-session-deleted]");
    }
    // An older deletion, of which the log knows nothing.
    const old = await privacy.record();
    await privacy.fixture.sql("update sessions set status = 'deleted' where id = $1", [
      old.sessionId,
    ]);
    const older = await detail(old.jobId);
    expect(older).toMatchObject({ session_was_deleted: true });
    expect(older).not.toHaveProperty("deletion_event_kind");
  });

  it("a deleted session is 404 to all but admins, who get its record and the receipt again", async () => {
    const recorded = await privacy.record();
    const { sessionId, owner, device } = recorded;
    const admin = await privacy.fixture.user("admin");
    const first = await remove(recorded, admin);
    const params = { session_id: sessionId };
    const codes = (principal: typeof owner) =>
      Promise.all(
        ["getSession", "listSegments", "listChunks", "deleteSession"].map((id) =>
          codeOf(privacy.call(id, { principal, params })),
        ),
      );
    expect(await codes(owner)).toEqual(["not_found", "not_found", "not_found", "not_found"]);
    expect(await codes(admin)).toEqual(["none", "not_found", "not_found", "none"]);
    expect(await remove(recorded, admin)).toEqual(first);
    const late = await codeOf(
      privacy.fixture.upload(device, sessionId, 2, makeWav({ frames: 16_000, seed: 9 })),
    );
    expect(["not_found", "session_deleted"]).toContain(late);
  });

  it("a worker that answers late writes nothing", async () => {
    const recorded = await privacy.record();
    await remove(recorded);
    const late = recorded.story.say("S1", 40_000, "late secret");
    expect(await codeOf(late)).toBe("session_deleted");
    const edit = {
      id: newId(),
      sessionId: recorded.sessionId,
      segmentId: recorded.story.segmentId(2_000),
      text: "secret again",
      byUserId: recorded.owner.id,
    };
    expect(await new PostgresSegmentEdits(privacy.fixture.pool).put(edit)).toBe(false);
    expect(await traces(recorded.sessionId)).not.toContain("secret");
    const last = await privacy.fixture.sql(
      "select type from events where session_id = $1 order by seq desc limit 1",
      [recorded.sessionId],
    );
    expect(last).toEqual([{ type: "SessionDeleted" }]);
  });

  it("audio that the disk would not give up is removed later", async () => {
    const recorded = await privacy.record();
    const { eraseAudio } = privacy;
    privacy.eraseAudio = () => Promise.reject(new Error("EBUSY"));
    expect(await remove(recorded)).toMatchObject({ audio_erased: false });
    privacy.eraseAudio = eraseAudio;
    expect(await privacy.sessions.finish()).toEqual({ done: 1, more: false });
    expect(await privacy.sessions.finish()).toEqual({ done: 0, more: false });
    expect(existsSync(join(privacy.fixture.folder, recorded.sessionId))).toBe(false);
  });

  it("only owner and admin delete", async () => {
    const recorded = await privacy.record();
    const moderator = await privacy.fixture.user("moderator");
    await privacy.fixture.join(recorded.device.workspaceId, moderator.id);
    const stranger = await privacy.fixture.user();
    const params = { session_id: recorded.sessionId };
    for (const principal of [moderator, stranger]) {
      expect(await codeOf(privacy.call("deleteSession", { principal, params }))).toBe("forbidden");
    }
  });

  it("retention: what is older than the workspace keeps it goes, and nothing else", async () => {
    const old = await privacy.record();
    const young = await privacy.record();
    const kept = await privacy.record();
    const age = (sessionId: string, days: number) =>
      privacy.fixture.sql(
        `update sessions set status = 'completed', stopped_at = now() - make_interval(days => $2)
         where id = $1`,
        [sessionId, days],
      );
    await age(old.sessionId, 31);
    await age(young.sessionId, 29);
    await age(kept.sessionId, 4_000);
    for (const { device } of [old, young]) {
      await privacy.fixture.sql("update workspaces set retention_days = 30 where id = $1", [
        device.workspaceId,
      ]);
    }
    const records = new RetentionStore(privacy.fixture.pool);
    const list = retentionList(records, privacy.sessions);
    expect(await list.run()).toEqual({ done: 1, more: false });
    expect(await list.run()).toEqual({ done: 0, more: false });
    expect(await detail(old.jobId)).toMatchObject({
      transcription_text: "[redacted-retention]",
      deletion_event_kind: "retention_session_redacted",
    });
    expect((await detail(young.jobId)).session_was_deleted).toBe(false);
  });

  it("retention: one that is held delays no other, and is told", async () => {
    const [held, free] = [await privacy.record(), await privacy.record()];
    for (const [index, { sessionId, device }] of [held, free].entries()) {
      await privacy.fixture.sql(
        `update sessions set status = 'completed', stopped_at = now() - make_interval(days => $2)
         where id = $1`,
        [sessionId, 50 - index],
      );
      const keep = "update workspaces set retention_days = 30 where id = $1";
      await privacy.fixture.sql(keep, [device.workspaceId]);
    }
    const list = retentionList(new RetentionStore(privacy.fixture.pool), privacy.sessions);
    // A transaction that somebody forgot.
    await privacy.fixture.sql("begin");
    const hold = "select from sessions where id = $1 for update";
    await privacy.fixture.sql(hold, [held.sessionId]);
    // The first run may have waited for the lock for all of its time.
    await list.run();
    await list.run();
    await privacy.fixture.sql("rollback");
    expect(list.failing).toBe(1);
    const statusOf = "select status from sessions where id = $1";
    expect(await privacy.fixture.sql(statusOf, [free.sessionId])).toEqual([{ status: "deleted" }]);
    await expect.poll(() => list.run(), { timeout: 20_000 }).toEqual({ done: 1, more: false });
    expect(list.failing).toBe(0);
    expect(await privacy.fixture.sql(statusOf, [held.sessionId])).toEqual([{ status: "deleted" }]);
  });

  it("retention: a workspace does not wait for the backlog of another", async () => {
    const { device } = await privacy.record();
    const few = await privacy.record();
    await privacy.fixture.sql(
      `insert into sessions (id, job_id, workspace_id, owner_id, status, started_at, stopped_at)
       select gen_random_uuid(), gen_random_uuid(), $1, $2, 'completed', now() - interval '90 days', now() - interval '90 days'
       from generate_series(1, 20)`,
      [device.workspaceId, device.ownerId],
    );
    const end =
      "update sessions set status = 'completed', stopped_at = now() - interval '40 days' where id = $1";
    await privacy.fixture.sql(end, [few.sessionId]);
    const keep = "update workspaces set retention_days = 30 where id = any($1)";
    await privacy.fixture.sql(keep, [[device.workspaceId, few.device.workspaceId]]);
    const records = new RetentionStore(privacy.fixture.pool);
    expect(await records.expired(5)).toContain(few.sessionId);
    expect(await records.expired(5, [few.sessionId])).not.toContain(few.sessionId);
  });

  it("account erasure: person, devices and sessions go; others keep theirs", async () => {
    const recorded = await privacy.record();
    const { owner, device, sessionId, jobId } = recorded;
    const heir = await privacy.fixture.user();
    await privacy.fixture.join(device.workspaceId, heir.id);
    const others = await privacy.record();
    await privacy.fixture.sql("insert into user_identities values ('acme', 'subject-1', $1)", [
      owner.id,
    ]);
    await privacy.fixture.sql(
      "insert into magic_links (token_hash, user_id, created_at, expires_at) values ('x', $1, now(), now())",
      [owner.id],
    );
    const done = await privacy.body("eraseAccount", { principal: owner });
    expect(done).toMatchObject({ sessions_deleted: 1, sessions_left: 0, devices_unpaired: 1 });
    expect(await detail(jobId)).toMatchObject({
      transcription_text: "[redacted-account-erasure]",
      deletion_event_kind: "account_erasure_session_redacted",
    });
    const [user] = await privacy.fixture.sql("select * from users where id = $1", [owner.id]);
    expect(user).toMatchObject({ name: "Deleted account", password_hash: null });
    expect(user?.email).not.toContain("example.org");
    for (const table of ["user_identities", "magic_links", "logins"]) {
      expect(
        await privacy.fixture.sql(`select 1 from ${table} where user_id = $1`, [owner.id]),
        table,
      ).toEqual([]);
    }
    expect(privacy.revoked).toContainEqual({ kind: "user", userId: owner.id });
    // The event about the person concerns the devices too: each is bound to its owner.
    const [unpaired] = await privacy.fixture.sql("select status, name from devices where id = $1", [
      device.id,
    ]);
    expect(unpaired).toEqual({ status: "revoked", name: "" });
    const keys = await privacy.fixture.sql(
      "select 1 from device_keys where device_id = $1 and revoked_at is null",
      [device.id],
    );
    expect(keys).toEqual([]);
    const members = await privacy.fixture.sql(
      "select user_id, role from workspace_members where workspace_id = $1",
      [device.workspaceId],
    );
    expect(members).toEqual([{ user_id: heir.id, role: "owner" }]);
    expect((await detail(others.jobId)).session_was_deleted).toBe(false);
    expect(await traces(sessionId)).not.toContain("pineapple");
    expect(await codeOf(privacy.call("eraseAccount", { principal: owner }))).toBe("invalid_token");
  });

  it("account erasure: the only administrator cannot go", async () => {
    await privacy.fixture.sql("update users set disabled_at = now() where role = 'admin'");
    const admin = await privacy.fixture.user("admin");
    expect(await codeOf(privacy.call("eraseAccount", { principal: admin }))).toBe("conflict");
    await privacy.fixture.user("admin");
    expect(await codeOf(privacy.call("eraseAccount", { principal: admin }))).toBe("none");
  });
});
