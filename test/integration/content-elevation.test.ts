import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import type { UserPrincipal } from "../../src/access/principal.ts";
import { newId } from "../../src/base/ids.ts";
import { recheckSession, requireSession } from "../../src/conversations/sessions/access.ts";
import { SessionStore } from "../../src/conversations/sessions/store.ts";
import { PrivacyFixture, type Recorded } from "../support/privacy-fixture.ts";
import { codeOf } from "../support/route-call.ts";

const HIDDEN = "[hidden: content elevation required]";
const REASON = "Complaint 4711 about what was said";

describe("content gating", () => {
  let privacy: PrivacyFixture;
  let recorded: Recorded;
  let admin: UserPrincipal;

  beforeAll(async () => {
    privacy = await PrivacyFixture.open();
  });
  afterAll(() => privacy.close());
  beforeEach(async () => {
    recorded = await privacy.record();
    admin = await privacy.fixture.user("admin");
  });

  const detail = (principal = admin, jobId = recorded.jobId) =>
    privacy.body("getTranscriptionJob", { principal, params: { job_id: jobId } });
  const segments = (principal = admin, sessionId = recorded.sessionId) =>
    codeOf(privacy.call("listSegments", { principal, params: { session_id: sessionId } }));
  const elevate = (body: Record<string, unknown> = {}, principal = admin) =>
    privacy.body("elevateContent", { principal, body: { reason: REASON, ...body } });
  const entries = (kind: string) =>
    privacy.fixture.sql("select * from audit_log where kind = $1 and actor_id = $2 order by seq", [
      kind,
      admin.id,
    ]);

  it("2.7 rules 1 to 3: hidden until elevated, then populated", async () => {
    const before = await detail();
    expect(before).toMatchObject({
      content_visible: false,
      elevation_required: true,
      session_was_deleted: false,
      transcription_text: HIDDEN,
    });
    expect((before.segments as { text: string }[]).map(({ text }) => text)).toEqual([
      HIDDEN,
      HIDDEN,
    ]);
    expect(await segments()).toBe("elevation_required");
    await elevate({ session_id: recorded.sessionId });
    expect(await detail()).toMatchObject({
      content_visible: true,
      elevation_required: false,
      transcription_text: "the secret word is pineapple",
    });
    expect(await segments()).toBe("none");
  });

  it("2.7 rule 3: native access needs no elevation: member, owner, share", async () => {
    const { sessionId } = recorded;
    const member = await privacy.fixture.user("admin");
    await privacy.fixture.sql(
      "insert into session_members (session_id, user_id, relation) values ($1, $2, 'participant')",
      [sessionId, member.id],
    );
    const sharer = await privacy.fixture.user("admin");
    await privacy.fixture.join(recorded.device.workspaceId, sharer.id);
    const owner = { ...recorded.owner, role: "admin" as const };
    const native = { content_visible: true, elevation_required: false };
    expect(await detail(member)).toMatchObject(native);
    expect(await detail(owner)).toMatchObject(native);
    // Belonging to the workspace alone is no access; a shared session is.
    expect(await detail(sharer)).toMatchObject({ elevation_required: true });
    await privacy.fixture.sql("update sessions set visibility = 'workspace' where id = $1", [
      sessionId,
    ]);
    expect(await detail(sharer)).toMatchObject(native);
    expect(await entries("content_read")).toEqual([]);
  });

  it("elevation: every read under it stands in the audit log, with the reason", async () => {
    const { elevation_id: id } = await elevate({ session_id: recorded.sessionId });
    await detail();
    await segments();
    expect(await entries("content_elevated")).toMatchObject([
      { session_id: recorded.sessionId, subject_id: id, detail: { reason: REASON } },
    ]);
    const reads = await entries("content_read");
    expect(reads).toHaveLength(2);
    expect(reads[0]).toMatchObject({ session_id: recorded.sessionId, subject_id: id });
  });

  it("elevation: to go on watching is one read, however often the right is checked", async () => {
    const directory = new SessionStore(privacy.fixture.pool);
    await elevate({ session_id: recorded.sessionId });
    const watch = [requireSession, recheckSession, recheckSession];
    for (const check of watch) {
      await check(directory, admin, recorded.sessionId, "session.content");
    }
    expect(await entries("content_read")).toHaveLength(1);
    const stranger = await privacy.fixture.user("admin");
    const closed = recheckSession(directory, stranger, recorded.sessionId, "session.content");
    expect(await codeOf(closed)).toBe("elevation_required");
  });

  it("elevation: covers its session only, or all; ends by time and by hand", async () => {
    const other = await privacy.record();
    const { elevation_id: id } = await elevate({ session_id: recorded.sessionId });
    expect(await segments(admin, other.sessionId)).toBe("elevation_required");
    const second = await privacy.fixture.user("admin");
    expect(await segments(second)).toBe("elevation_required");
    await privacy.call("endContentElevation", {
      principal: second,
      params: { elevation_id: `${id}` },
    });
    expect(await segments()).toBe("elevation_required");
    expect(privacy.revoked).toContainEqual({ kind: "user", userId: admin.id });
    await elevate();
    expect(await segments(admin, other.sessionId)).toBe("none");
    await privacy.fixture.sql(
      "update content_elevations set expires_at = now() - interval '1 s' where admin_id = $1",
      [admin.id],
    );
    expect(await segments(admin, other.sessionId)).toBe("elevation_required");
    const unknown = { principal: admin, params: { elevation_id: newId() } };
    expect(await codeOf(privacy.call("endContentElevation", unknown))).toBe("not_found");
  });

  it("elevation: no entry, no content", async () => {
    await elevate();
    await privacy.asOwner("revoke insert on audit_log from voice_service");
    try {
      await expect(detail()).rejects.toThrow();
      await expect(
        privacy.call("listSegments", {
          principal: admin,
          params: { session_id: recorded.sessionId },
        }),
      ).rejects.toThrow();
      await expect(elevate()).rejects.toThrow();
    } finally {
      await privacy.asOwner("grant insert on audit_log to voice_service");
    }
    expect(await segments()).toBe("none");
  });

  it("elevation: 404 for an unknown and for a deleted session", async () => {
    const { sessionId, owner } = recorded;
    const attempt = (session_id: string) =>
      codeOf(
        privacy.call("elevateContent", { principal: admin, body: { reason: REASON, session_id } }),
      );
    expect(await attempt(newId())).toBe("not_found");
    expect(await attempt("nonsense")).toBe("not_found");
    await privacy.call("deleteSession", { principal: owner, params: { session_id: sessionId } });
    expect(await attempt(sessionId)).toBe("not_found");
  });

  it("2.7 with a redacted span: the rest stands, and no elevation brings it back", async () => {
    const { sessionId, story } = recorded;
    const id = story.segmentId(2_000);
    const redaction = { redactionId: newId(), from: 2_000, to: 3_000, segmentIds: [id] };
    await story.tell([{ type: "SpanRedacted", ...redaction, byUserId: recorded.owner.id }]);
    await elevate({ session_id: sessionId });
    expect(await detail()).toMatchObject({
      content_visible: false,
      elevation_required: false,
      session_was_deleted: false,
      transcription_text: "[redacted-span] is pineapple",
    });
    expect(await detail()).not.toHaveProperty("deletion_event_kind");
  });
});
