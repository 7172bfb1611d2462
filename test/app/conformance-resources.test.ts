import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  ConformanceFixture,
  expectMembers,
  expectProblem,
  flag,
  int32,
  type Kind,
  list,
  number,
  PASSWORD,
  text,
  time,
  uuid,
} from "../support/conformance-fixture.ts";

const HIDDEN = "[hidden: content elevation required]";
const STATUS: Kind = (value) =>
  ["queued", "running", "completed", "failed", "cancelled"].includes(String(value));
const FRACTION: Kind = (value) => number(value) && (value as number) >= 0 && (value as number) <= 1;

const JOB = {
  id: uuid,
  workspace_id: uuid,
  status: STATUS,
  progress: FRACTION,
  error: text,
  segment_count: int32,
  segments: list,
  created_at: time,
  content_visible: flag,
  elevation_required: flag,
  session_was_deleted: flag,
};
const JOB_OPTIONAL = {
  transcription_id: uuid,
  session_id: uuid,
  detected_language: text,
  forced_language: text,
  diarisation_model_version: text,
  transcription_text: text,
  speaker_count: int32,
  duration_ms: int32,
  avg_confidence: FRACTION,
  completed_at: time,
  deletion_event_kind: text,
};

interface Job extends Record<string, unknown> {
  transcription_text: string;
  segments: { id: string; text: string }[];
}

describe("conformance: resources", () => {
  let fixture: ConformanceFixture;
  beforeAll(async () => {
    fixture = await ConformanceFixture.open();
    await fixture.record();
  });
  afterAll(() => fixture?.close());

  const detail = (jobId = fixture.jobId, token = fixture.admin.token) =>
    fixture.done<Job>("GET", `/admin/jobs/transcriptions/${jobId}`, { token });

  async function elevate(sessionId: string): Promise<string> {
    const body = { reason: "Complaint 4711, what was said", session_id: sessionId };
    const options = { token: fixture.admin.token, body };
    const elevated = await fixture.done<{ elevation_id: string }>(
      "POST",
      "/admin/content-elevate",
      options,
    );
    return elevated.elevation_id;
  }

  const lower = (id: string) =>
    fixture.done("DELETE", `/admin/content-elevate/${id}`, { token: fixture.admin.token });

  it("transcription job detail: a completed job has every member of the table", async () => {
    const job = await detail();
    const { forced_language: _forced, deletion_event_kind: _kind, ...present } = JOB_OPTIONAL;
    expectMembers(job, { ...JOB, ...present });
    expect(job).toMatchObject({
      id: fixture.jobId,
      session_id: fixture.sessionId,
      workspace_id: fixture.workspaceId,
      status: "completed",
      progress: 1,
      error: "",
    });
    expect(job.segments.length).toBe(job.segment_count);
  });

  it("transcription job detail: the admin job list returns the same id", async () => {
    const path = `/admin/jobs/transcriptions?session_id=${fixture.sessionId}`;
    const { items } = await fixture.done<{ items: object[] }>("GET", path, {
      token: fixture.admin.token,
    });
    expect(items).toEqual([expect.objectContaining({ id: fixture.jobId })]);
    const { segments: _segments, ...required } = JOB;
    for (const name of ["content_visible", "elevation_required", "session_was_deleted"] as const) {
      delete (required as Partial<typeof required>)[name];
    }
    expectMembers(items[0], required, JOB_OPTIONAL);
  });

  it("transcription job detail: of a session without audio, what is absent is left out", async () => {
    const device = await fixture.pair();
    const sessionId = await fixture.start(device);
    const { token } = fixture.owner;
    const session = await fixture.done<Record<string, string>>("GET", `/sessions/${sessionId}`, {
      token,
    });
    const job = await detail(session.transcription_job_id);
    expectMembers(job, JOB, JOB_OPTIONAL);
    expect(job).toMatchObject({ segment_count: 0, segments: [], error: "" });
    for (const name of ["avg_confidence", "completed_at", "speaker_count", "duration_ms"]) {
      expect(job).not.toHaveProperty(name);
    }
    expectMembers(session, {
      id: uuid,
      workspace_id: uuid,
      owner_id: uuid,
      device_id: uuid,
      transcription_job_id: uuid,
      title: text,
      metadata: (value) => JSON.stringify(value) === "{}",
      tags: (value) => JSON.stringify(value) === "[]",
      language: text,
      status: (value) => value === "recording",
      visibility: (value) => value === "private",
      guest_access: (value) => value === "open",
      reading: (value) => typeof value === "object",
      started_at: time,
      created_at: time,
    });
    await fixture.stop(device);
  });

  it("transcription segment: ids, int32 times in order, label, text, confidence", async () => {
    const id = await elevate(fixture.sessionId);
    const { segments, transcription_text } = await detail();
    expect(segments.length).toBeGreaterThan(2);
    let before = 0;
    for (const segment of segments) {
      expectMembers(
        segment,
        { id: uuid, start_ms: int32, end_ms: int32, text },
        { speaker_label: (value) => /^(S[1-9]\d*|UU)$/.test(String(value)), confidence: FRACTION },
      );
      const { start_ms, end_ms } = segment as unknown as { start_ms: number; end_ms: number };
      expect(start_ms).toBeGreaterThanOrEqual(before);
      expect(end_ms).toBeGreaterThan(start_ms);
      before = start_ms;
    }
    expect(transcription_text).toBe(segments.map((segment) => segment.text).join(" "));
    await lower(id);
  });

  it("segment of a transcript: the same, and how sure its speaker is", async () => {
    const path = `/sessions/${fixture.sessionId}`;
    const { segments } = await fixture.done<{ segments: Record<string, unknown>[] }>(
      "GET",
      `${path}/transcript`,
      { token: fixture.owner.token },
    );
    expect(segments.length).toBeGreaterThan(2);
    for (const segment of segments) {
      expectMembers(segment, {
        id: uuid,
        start_ms: int32,
        end_ms: int32,
        text,
        speaker_label: text,
        confidence: FRACTION,
        speaker_confidence: (value) => value === null || FRACTION(value),
        readable_text: text,
      });
      if (segment.speaker_label === "UU") expect(segment.speaker_confidence).toBeNull();
    }
  });

  it("summarisation job detail: its ten members, and text hidden until an elevation", async () => {
    const id = await fixture.summary();
    const path = `/admin/jobs/summarisations/${id}`;
    const job = await fixture.done("GET", path, { token: fixture.admin.token });
    expectMembers(job, {
      id: uuid,
      workspace_id: uuid,
      summary_type: (value) => value === "brief",
      summary_text: (value) => value === HIDDEN,
      status: (value) => value === "completed",
      progress: (value) => value === 1,
      error: (value) => value === "",
      created_at: time,
      session_id: (value) => value === fixture.sessionId,
      completed_at: time,
    });
    const elevation = await elevate(fixture.sessionId);
    const open = await fixture.done<{ summary_text: string }>("GET", path, {
      token: fixture.admin.token,
    });
    expect(open.summary_text).toMatch(/\w+ \w+/);
    expect(open.summary_text).not.toBe(HIDDEN);
    await lower(elevation);
  });

  it("error body: success and message, nothing else, whatever the status", async () => {
    const { token } = fixture.stranger;
    const path = `/sessions/${fixture.sessionId}`;
    expectProblem(await fixture.send("GET", path), 401, "unauthorized");
    expectProblem(await fixture.send("GET", path, { token }), 403, "forbidden");
    expectProblem(await fixture.send("GET", "/sessions/none", { token }), 404, "not_found");
    const empty = { token, body: {} };
    expectProblem(await fixture.send("POST", "/workspaces", empty), 400, "invalid_body");
  });

  it("workshop character: six strings and is_active", async () => {
    const { token } = fixture.owner;
    const made = await fixture.done<{ id: string }>(
      "POST",
      "/workshops",
      { token, body: { workspace_id: fixture.workspaceId, name: "The Seagull" } },
      201,
    );
    const character = await fixture.done(
      "POST",
      `/workshops/${made.id}/characters`,
      { token, body: { name: "Nina" } },
      201,
    );
    expectMembers(character, {
      id: uuid,
      workshop_id: (value) => value === made.id,
      name: text,
      description: text,
      is_active: flag,
      created_at: time,
      updated_at: time,
    });
  });

  it("workspace: id, name, workspace_type, times and preferred_language", async () => {
    const { token } = fixture.owner;
    const workspace = await fixture.done("GET", `/workspaces/${fixture.workspaceId}`, { token });
    expectMembers(workspace, {
      id: uuid,
      name: text,
      workspace_type: (value) => value === "private" || value === "team",
      created_at: time,
      updated_at: time,
      preferred_language: text,
      remote_engines: flag,
      remote_text: flag,
      automatic_notes: flag,
      notes_template: (value) => value === "general",
      vocabulary: (value) => Array.isArray(value),
      // Its owner's, who asks here.
      usage: (value) => value !== null && typeof value === "object",
    });
  });

  it("query result: answer and tools_used, with citations", async () => {
    const { token } = fixture.owner;
    const options = { token, body: { query: "What did the team finish?" } };
    const paths = [
      `/sessions/${fixture.sessionId}/hirag-query`,
      `/workspaces/${fixture.workspaceId}/agentic-query`,
    ];
    for (const path of paths) {
      const result = await fixture.done<{ tools_used: unknown[] }>("POST", path, options);
      expectMembers(result, { answer: text, tools_used: list, citations: list });
      expect(result.tools_used.length).toBeGreaterThan(0);
      expect(result.tools_used.every(text)).toBe(true);
    }
  });

  it("session chunk listing: success, chunks and total_chunks, chunks in order", async () => {
    const { token } = fixture.owner;
    const path = `/sessions/${fixture.sessionId}/chunks`;
    const listing = await fixture.done<{ chunks: { chunk_sequence: number }[] }>("GET", path, {
      token,
    });
    expectMembers(listing, {
      success: (value) => value === true,
      chunks: list,
      total_chunks: int32,
    });
    expect(listing).toMatchObject({ total_chunks: 11 });
    expect(listing.chunks.map(({ chunk_sequence }) => chunk_sequence)).toEqual(
      Array.from({ length: 11 }, (_, index) => index),
    );
    for (const chunk of listing.chunks) {
      expectMembers(chunk, {
        chunk_id: uuid,
        chunk_sequence: int32,
        filename: text,
        transcription_status: (value) => value === "completed",
        transcription_text: text,
        uploaded_at: time,
        duration_seconds: (value) => value === 2,
      });
    }
  });

  it("login result: token and user, refresh_token only when remember_me is true", async () => {
    const credentials = { email: fixture.owner.email, password: PASSWORD };
    const user: Kind = (value) => {
      expectMembers(value, {
        id: (id) => id === fixture.owner.id,
        email: (email) => email === fixture.owner.email,
        role: (role) => role === "participant",
      });
      return true;
    };
    for (const body of [credentials, { ...credentials, remember_me: false }]) {
      expectMembers(await fixture.done("POST", "/auth/login", { body }), { token: text, user });
    }
    const remembered = { ...credentials, remember_me: true };
    expectMembers(await fixture.done("POST", "/auth/login", { body: remembered }), {
      token: text,
      user,
      refresh_token: text,
    });
  });

  it("roles: admin, participant, moderator and guest", async () => {
    const guest = await fixture.guest();
    const roles = [fixture.admin, fixture.owner, fixture.moderator, guest].map(
      async ({ token }) => {
        const me = await fixture.done<{ role: string }>("GET", "/auth/me", { token });
        return me.role;
      },
    );
    expect(await Promise.all(roles)).toEqual(["admin", "participant", "moderator", "guest"]);
  });

  it("hidden from an admin without a tie until an elevation, and again after", async () => {
    const hidden = await detail();
    expect(hidden).toMatchObject({ content_visible: false, elevation_required: true });
    expect(
      new Set([hidden.transcription_text, ...hidden.segments.map((each) => each.text)]),
    ).toEqual(new Set([HIDDEN]));
    const id = await elevate(fixture.sessionId);
    const open = await detail();
    expect(open).toMatchObject({ content_visible: true, elevation_required: false });
    expect(open.transcription_text).toMatch(/hello/i);
    await lower(id);
    expect(await detail()).toMatchObject({ content_visible: false, elevation_required: true });
  });

  it("native access of an admin (share) needs no elevation", async () => {
    const native = await fixture.person("admin");
    await fixture.admit(`/sessions/${fixture.sessionId}`, native);
    const job = await detail(fixture.jobId, native.token);
    expect(job).toMatchObject({ content_visible: true, elevation_required: false });
    expect(job.transcription_text).toMatch(/hello/i);
  });

  it("redacted by deletion, with the kind of the audit entry", async () => {
    const cases = [
      { by: fixture.owner, kind: "session_deleted_by_owner", count: 2 },
      { by: fixture.admin, kind: "session_deleted_by_admin", count: 2 },
    ];
    const kept = { sessionId: fixture.sessionId, jobId: fixture.jobId };
    for (const { by, kind, count } of cases) {
      const { sessionId, jobId } = await fixture.record(count);
      expect(await detail(jobId)).not.toHaveProperty("deletion_event_kind");
      await fixture.done("DELETE", `/sessions/${sessionId}`, { token: by.token });
      const job = await detail(jobId);
      expectMembers(job, JOB, JOB_OPTIONAL);
      expect(job).toMatchObject({
        session_was_deleted: true,
        content_visible: false,
        elevation_required: false,
        deletion_event_kind: kind,
      });
      for (const words of [job.transcription_text, ...job.segments.map((each) => each.text)]) {
        expect(words).toMatch(/^\[redacted-session-deleted\]$/);
      }
    }
    Object.assign(fixture, kept);
    expect(await detail()).not.toHaveProperty("deletion_event_kind");
  });

  it("speaker claim: both sources, in the body's own words", async () => {
    const { token } = fixture.owner;
    const path = `/sessions/${fixture.sessionId}/speaker-claims`;
    const own = { speaker_label: "S1", source: "self_claim", assigned_user_id: 7, unknown: true };
    expect(await fixture.done("POST", path, { token, body: own })).toEqual({
      speaker_label: "S1",
      source: "self_claim",
      claimed_user_id: fixture.owner.id,
    });
    const given = {
      speaker_label: "S1",
      source: "moderator_assignment",
      assigned_user_id: fixture.member.id,
    };
    expect(await fixture.done("POST", path, { token, body: given })).toEqual({
      speaker_label: "S1",
      source: "moderator_assignment",
      claimed_user_id: fixture.member.id,
    });
  });
});
