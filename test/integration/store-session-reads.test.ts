import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { DevicePrincipal, GuestPrincipal, UserPrincipal } from "../../src/access/principal.ts";
import { newId } from "../../src/base/ids.ts";
import { SessionStore } from "../../src/conversations/sessions/store.ts";
import { makeWav } from "../support/make-wav.ts";
import { type Call, callRoute, codeOf, jsonBody, textBody } from "../support/route-call.ts";
import { SessionFixture } from "../support/session-fixture.ts";
import { SessionStory } from "../support/session-story.ts";

describe("session reads", () => {
  let fixture: SessionFixture;
  let device: DevicePrincipal;
  let owner: UserPrincipal;
  let admin: UserPrincipal;
  let sessionId: string;
  let story: SessionStory;

  beforeAll(async () => {
    fixture = await SessionFixture.open();
    admin = await fixture.user("admin", "Ada Admin");
    ({ device, owner } = await fixture.ownDevice());
    sessionId = await fixture.start(device, { title: "Standup", language: "en-GB" });
    for (const sequence of [0, 1, 2]) {
      await fixture.upload(
        device,
        sessionId,
        sequence,
        makeWav({ frames: 16_000, seed: sequence }),
      );
    }
    story = await SessionStory.open(fixture, sessionId);
    const session = await read("getSession", {});
    const jobId = String(session.transcription_job_id);
    const chunks = await fixture.sql<{ id: string; sequence: number }>(
      "select id, sequence from chunks where session_id = $1 order by sequence",
      [sessionId],
    );
    await story.tell([
      { type: "SessionStarted", sessionId, jobId, language: "en-GB" },
      {
        type: "JobStarted",
        jobId,
        attempt: 1,
        engine: "moonshine-tiny-en",
        diarisationModelVersion: "d1",
        detectedLanguage: "en",
      },
    ]);
    for (const { id, sequence } of chunks.slice(0, 2)) {
      const place = { start: sequence * 16_000, length: 16_000 };
      await story.tell([{ type: "ChunkPlaced", chunkId: id, sequence, ...place }]);
    }
    await story.say("S1", 2_000, "one two three four");
    await story.say("S2", 20_000, "five six");
    await story.say("UU", 29_000, "seven");
    await story.tell([
      { type: "GapDeclared", sequence: 7, start: 32_000, length: 16_000, pin: 0, knownClusters: 0 },
      {
        type: "SpeakerClaimed",
        label: "S2",
        source: "self_claim",
        claimedUserId: owner.id,
        byUserId: owner.id,
      },
    ]);
  });
  afterAll(() => fixture.close());

  function call(id: string, overrides: Call): ReturnType<typeof callRoute> {
    return callRoute(fixture.routes, id, {
      principal: owner,
      params: { session_id: sessionId },
      ...overrides,
    });
  }

  async function read(id: string, overrides: Call): Promise<Record<string, unknown>> {
    return jsonBody(await call(id, overrides));
  }

  it("session record: shows metadata, leaves absent members out", async () => {
    const body = await read("getSession", {});
    expect(body).toEqual({
      id: sessionId,
      workspace_id: device.workspaceId,
      owner_id: owner.id,
      device_id: device.id,
      transcription_job_id: expect.any(String),
      title: "Standup",
      metadata: {},
      tags: [],
      language: "en-GB",
      engine: "moonshine-tiny-en",
      status: "recording",
      visibility: "private",
      guest_access: "open",
      reading: expect.objectContaining({ read_seconds: expect.any(Number) }),
      started_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
      created_at: expect.any(String),
    });
  });

  it("session access: 404 unknown, 403 without a relation, elevation_required for admins", async () => {
    const stranger = await fixture.user();
    const member = await fixture.user();
    await fixture.join(device.workspaceId, member.id);
    const moderator = await fixture.user("moderator");
    await fixture.join(device.workspaceId, moderator.id);
    expect(await codeOf(call("getSession", { params: { session_id: newId() } }))).toBe("not_found");
    expect(await codeOf(call("getSession", { params: { session_id: "x" } }))).toBe("not_found");
    expect(await codeOf(call("getSession", { principal: stranger }))).toBe("forbidden");
    expect(await codeOf(call("listSegments", { principal: member }))).toBe("forbidden");
    expect(await codeOf(call("listSegments", { principal: moderator }))).toBe("none");
    expect(await codeOf(call("getSession", { principal: admin }))).toBe("none");
    for (const id of ["listSegments", "listChunks", "getTranscript"]) {
      expect(await codeOf(call(id, { principal: admin }))).toBe("elevation_required");
    }
  });

  it("session access: guests see their session while it is open to them", async () => {
    const guest: GuestPrincipal = {
      kind: "guest",
      id: newId(),
      role: "guest",
      sessionId,
      displayName: "Gus",
      tokenId: newId(),
      expiresAt: Date.now() + 60_000,
    };
    expect(await codeOf(call("listSegments", { principal: guest }))).toBe("none");
    await fixture.sql("update sessions set guest_access = 'closed' where id = $1", [sessionId]);
    expect(await codeOf(call("listSegments", { principal: guest }))).toBe("guest_access_closed");
    await fixture.sql("update sessions set guest_access = 'open' where id = $1", [sessionId]);
  });

  it("session list: shows exactly what the caller may read", async () => {
    const ids = async (principal: UserPrincipal): Promise<string[]> => {
      const { items } = await read("listSessions", { principal });
      return (items as { id: string }[]).map(({ id }) => id);
    };
    const member = await fixture.user();
    await fixture.join(device.workspaceId, member.id);
    const moderator = await fixture.user("moderator");
    await fixture.join(device.workspaceId, moderator.id);
    const participant = await fixture.user();
    await fixture.sql(
      "insert into session_members (session_id, user_id, relation) values ($1, $2, 'shared')",
      [sessionId, participant.id],
    );
    expect(await ids(owner)).toEqual([sessionId]);
    expect(await ids(moderator)).toEqual([sessionId]);
    expect(await ids(participant)).toEqual([sessionId]);
    expect(await ids(admin)).toContain(sessionId);
    expect(await ids(member)).toEqual([]);
    await fixture.sql("update sessions set visibility = 'workspace' where id = $1", [sessionId]);
    expect(await ids(member)).toEqual([sessionId]);
    expect(await codeOf(call("listSegments", { principal: member }))).toBe("none");
    await fixture.sql("update sessions set visibility = 'private' where id = $1", [sessionId]);
  });

  it("session list: pages newest first and filters", async () => {
    const made: string[] = [];
    const own = await fixture.ownDevice();
    for (let n = 0; n < 5; n += 1) {
      made.unshift(await fixture.start(own.device));
      await fixture.stop(own.device);
    }
    const seen: string[] = [];
    let cursor: unknown;
    do {
      const query = { limit: 2, ...(cursor === undefined ? {} : { cursor }) };
      const page = await read("listSessions", { principal: own.owner, query });
      seen.push(...(page.items as { id: string }[]).map(({ id }) => id));
      cursor = page.next_cursor ?? undefined;
    } while (cursor !== undefined);
    expect(seen).toEqual(made);
    const byStatus = { principal: own.owner, query: { status: "recording" } };
    expect((await read("listSessions", byStatus)).items).toEqual([]);
    const byWorkspace = { principal: own.owner, query: { workspace_id: own.device.workspaceId } };
    expect((await read("listSessions", byWorkspace)).items).toHaveLength(5);
    const forged = { principal: own.owner, query: { cursor: "AAAA" } };
    expect(await codeOf(call("listSessions", forged))).toBe("invalid_parameter");
  });

  it("session list: one's own, those shared with one and the workspace's come in one order, each once", async () => {
    const [own, shared, joined] = [
      await fixture.ownDevice(),
      await fixture.ownDevice(),
      await fixture.ownDevice(),
    ];
    const person = own.owner;
    await fixture.join(joined.device.workspaceId, person.id);
    const made: string[] = [];
    for (let n = 0; n < 9; n += 1) {
      const { device: from } = [own, shared, joined][n % 3] ?? own;
      const id = await fixture.start(from);
      await fixture.stop(from);
      made.unshift(id);
      if (n % 3 === 2) {
        await fixture.sql("update sessions set visibility = 'workspace' where id = $1", [id]);
      }
      // Nobody stops one from taking part in what is one's own.
      if (n % 3 === 1 || n === 0) {
        await fixture.sql(
          "insert into session_members (session_id, user_id, relation) values ($1, $2, 'shared')",
          [id, person.id],
        );
      }
    }
    const seen: string[] = [];
    for (let cursor: unknown, n = 0; n === 0 || cursor !== undefined; n += 1) {
      const query = { limit: 2, ...(cursor === undefined ? {} : { cursor }) };
      const page = await read("listSessions", { principal: person, query });
      seen.push(...(page.items as { id: string }[]).map(({ id }) => id));
      cursor = page.next_cursor ?? undefined;
    }
    expect(seen).toEqual(made);
  });

  it("chunks: carry the words whose middle lies in their span", async () => {
    const body = await read("listChunks", {});
    expect(body.success).toBe(true);
    expect(body.total_chunks).toBe(3);
    expect(body).not.toHaveProperty("next_cursor");
    const chunks = body.chunks as Record<string, unknown>[];
    expect(chunks.map((chunk) => chunk.transcription_text)).toEqual([
      "one two three",
      "four five six seven",
      "",
    ]);
    expect(chunks.map((chunk) => chunk.transcription_status)).toEqual([
      "processing",
      "processing",
      "pending",
    ]);
    expect(chunks[0]).toMatchObject({ chunk_sequence: 0, filename: "chunk.wav" });
    expect(chunks[0]).toMatchObject({ duration_seconds: 1 });
  });

  it("chunks: page when a limit is given", async () => {
    const first = await read("listChunks", { query: { limit: 2 } });
    expect(first.chunks).toHaveLength(2);
    const rest = await read("listChunks", { query: { limit: 2, cursor: first.next_cursor } });
    expect((rest.chunks as { chunk_sequence: number }[])[0]?.chunk_sequence).toBe(2);
    expect(rest.next_cursor).toBeNull();
    expect(rest.total_chunks).toBe(3);
  });

  it("segments: come in order, in milliseconds, with words when asked", async () => {
    const first = await read("listSegments", { query: { limit: 2, words: true } });
    const [segment] = first.items as Record<string, unknown>[];
    expect(segment).toEqual({
      id: story.segmentId(2_000),
      start_ms: 125,
      end_ms: 1_125,
      speaker_label: "S1",
      text: "one two three four",
      confidence: 0.625,
      speaker_confidence: null,
      revision: 1,
      words: [
        { word: "one", start_ms: 125, end_ms: 375, confidence: 0.5 },
        { word: "two", start_ms: 375, end_ms: 625, confidence: 0.75 },
        { word: "three", start_ms: 625, end_ms: 875, confidence: 0.5 },
        { word: "four", start_ms: 875, end_ms: 1_125, confidence: 0.75 },
      ],
    });
    const rest = await read("listSegments", { query: { limit: 2, cursor: first.next_cursor } });
    expect((rest.items as { text: string }[]).map(({ text }) => text)).toEqual(["seven"]);
    expect(rest.next_cursor).toBeNull();
  });

  it("transcript: is JSON with speakers and gaps, or lines of text with claimed names", async () => {
    const body = await read("getTranscript", {});
    expect(body.gaps).toEqual([{ chunk_sequence: 7, start_ms: 2_000, end_ms: 3_000 }]);
    expect(body.segments).toHaveLength(3);
    const reply = await call("getTranscript", { query: { format: "txt" } });
    expect(reply.headers?.["content-type"]).toBe("text/plain; charset=utf-8");
    const [title, facts, empty, ...lines] = textBody(reply).split("\n");
    expect([title, empty]).toEqual(["Standup", ""]);
    expect(facts).toMatch(
      /^\d{4}-\d\d-\d\d \d\d:\d\d UTC · .*Speaker 1, Olga Owner, Unknown speaker$/,
    );
    expect(lines).toEqual([
      "[00:00] Speaker 1: One two three four.",
      "[00:01] Olga Owner: Five six.",
      "[00:01] Unknown speaker: Seven.",
      "",
    ]);
    const raw = await call("getTranscript", { query: { format: "txt", style: "raw" } });
    expect(textBody(raw)).toMatch(/^\[00:00\] S1: one two three four\n.*\n\[00:01\] UU: seven\n$/i);
    const byHeader = await call("getTranscript", { headers: { accept: "text/plain" } });
    expect(textBody(byHeader)).toBe(textBody(reply));
  });

  it("speakers: are ordered by number with claims, unknown last", async () => {
    const { items } = await read("listSpeakers", {});
    expect(items).toEqual([
      { speaker_label: "S1", segment_count: 1, speaking_ms: 1_000 },
      {
        speaker_label: "S2",
        segment_count: 1,
        speaking_ms: 500,
        claimed_user_id: owner.id,
        display_name: "Olga Owner",
        source: "self_claim",
      },
      { speaker_label: "UU", segment_count: 1, speaking_ms: 250 },
    ]);
  });

  it("job detail: hides words from an admin without native access", async () => {
    const job_id = String((await read("getSession", {})).transcription_job_id);
    const body = await read("getTranscriptionJob", { principal: admin, params: { job_id } });
    const hidden = "[hidden: content elevation required]";
    expect(body).toMatchObject({
      id: job_id,
      session_id: sessionId,
      workspace_id: device.workspaceId,
      status: "running",
      error: "",
      detected_language: "en",
      diarisation_model_version: "d1",
      transcription_text: hidden,
      segment_count: 3,
      speaker_count: 2,
      duration_ms: 2_000,
      content_visible: false,
      elevation_required: true,
      session_was_deleted: false,
    });
    expect(body.avg_confidence).toBeCloseTo((2.5 + 1.25 + 0.5) / 7, 6);
    const texts = (body.segments as { text: string }[]).map(({ text }) => text);
    expect(texts).toEqual([hidden, hidden, hidden]);
    expect(JSON.stringify(body)).not.toMatch(/one two|five|seven/);
    for (const absent of ["forced_language", "completed_at", "deletion_event_kind"]) {
      expect(body).not.toHaveProperty(absent);
    }
  });

  it("job detail: shows words to an admin with native access, redacts deleted sessions", async () => {
    const job_id = String((await read("getSession", {})).transcription_job_id);
    await fixture.sql(
      "insert into session_members (session_id, user_id, relation) values ($1, $2, 'shared')",
      [sessionId, admin.id],
    );
    const native = await read("getTranscriptionJob", { principal: admin, params: { job_id } });
    expect(native).toMatchObject({
      transcription_text: "one two three four five six seven",
      content_visible: true,
      elevation_required: false,
    });
    await fixture.sql("update sessions set status = 'deleted' where id = $1", [sessionId]);
    const deleted = await read("getTranscriptionJob", { principal: admin, params: { job_id } });
    await fixture.sql("update sessions set status = 'recording' where id = $1", [sessionId]);
    await fixture.sql("delete from session_members where user_id = $1", [admin.id]);
    expect(deleted).toMatchObject({
      transcription_text: "[redacted-session-deleted]",
      content_visible: false,
      elevation_required: false,
      session_was_deleted: true,
    });
    const unknown = { principal: admin, params: { job_id: newId() } };
    expect(await codeOf(call("getTranscriptionJob", unknown))).toBe("not_found");
  });

  it("assignees: enabled users whom an administrator knows, and this session's guests", async () => {
    const sessions = new SessionStore(fixture.pool);
    const user = await fixture.user();
    const [guest, gone, elsewhere] = [newId(), newId(), newId()];
    const other = await fixture.start((await fixture.ownDevice()).device);
    await fixture.sql(
      `insert into guests (id, session_id, display_name, expires_at, revoked_at)
       values ($1, $4, 'G', now() + interval '1 hour', null),
              ($2, $4, 'G', now() + interval '1 hour', now()),
              ($3, $5, 'G', now() + interval '1 hour', null)`,
      [guest, gone, elsewhere, sessionId, other],
    );
    const assignable = (id: string): Promise<boolean> =>
      sessions.isAssignable(admin, sessionId, id);
    expect(await assignable(user.id)).toBe(true);
    expect(await assignable(guest)).toBe(true);
    for (const id of [gone, elsewhere, newId()]) expect(await assignable(id)).toBe(false);
    await fixture.sql("update users set disabled_at = now() where id = $1", [user.id]);
    expect(await assignable(user.id)).toBe(false);
  });

  it("job list: filters and pages", async () => {
    const only = await read("listTranscriptionJobs", {
      principal: admin,
      query: { session_id: sessionId },
    });
    expect(only.items).toHaveLength(1);
    expect((only.items as object[])[0]).not.toHaveProperty("transcription_text");
    const queued = { principal: admin, query: { status: "queued", limit: 3 } };
    const page = await read("listTranscriptionJobs", queued);
    expect(page.items).toHaveLength(3);
    expect(page.next_cursor).toEqual(expect.any(String));
    const wrong = { principal: admin, query: { session_id: "nope" } };
    expect(await codeOf(call("listTranscriptionJobs", wrong))).toBe("invalid_parameter");
  });

  it("session reads: what each append changes of a session's row is in no index", async () => {
    // Of this connection since it last told them, so the difference counts.
    const updates = async () => {
      const [row] = await fixture.sql<{ all: number; heapOnly: number }>(
        `select n_tup_upd::int as all, n_tup_hot_upd::int as "heapOnly"
         from pg_stat_xact_user_tables where relname = 'sessions'`,
      );
      return row ?? { all: 0, heapOnly: 0 };
    };
    await fixture.sql("begin");
    try {
      const before = await updates();
      for (let n = 0; n < 3; n += 1) {
        await fixture.sql(
          "update sessions set seq = seq + 1, updated_at = clock_timestamp(), work_seq = seq + 1 where id = $1",
          [sessionId],
        );
      }
      const after = await updates();
      const written = { all: after.all - before.all, heapOnly: after.heapOnly - before.heapOnly };
      expect(written).toEqual({ all: 3, heapOnly: 3 });
    } finally {
      await fixture.sql("rollback");
    }
  });
});
