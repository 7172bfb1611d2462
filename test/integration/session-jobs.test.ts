import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { DevicePrincipal, UserPrincipal } from "../../src/access/principal.ts";
import { AppError } from "../../src/base/errors.ts";
import { newId } from "../../src/base/ids.ts";
import { type Call, callRoute, codeOf, jsonBody } from "../support/route-call.ts";
import { SessionFixture } from "../support/session-fixture.ts";
import { SessionStory } from "../support/session-story.ts";

describe("jobs", () => {
  let fixture: SessionFixture;
  let device: DevicePrincipal;
  let owner: UserPrincipal;
  let admin: UserPrincipal;
  let sessionId: string;
  let jobId: string;

  beforeAll(async () => {
    fixture = await SessionFixture.open();
    ({ device, owner } = await fixture.ownDevice());
    admin = await fixture.user("admin");
    sessionId = await fixture.start(device);
    const session = await call("getSession", { params: { session_id: sessionId } });
    jobId = String(session.body.transcription_job_id);
  });
  afterAll(() => fixture.close());

  async function call(id: string, overrides: Call) {
    const reply = await callRoute(fixture.routes, id, { principal: owner, ...overrides });
    return { status: reply.status, body: jsonBody(reply) };
  }

  const get = (id: string, principal = owner) => call("getJob", { principal, params: { id } });
  const cancel = (id: string, principal = owner) =>
    call("cancelJob", { principal, params: { id } });
  const again = (body?: unknown, principal = owner) =>
    call("transcribeAgain", { principal, params: { session_id: sessionId }, body });

  async function list(query: Record<string, unknown>, principal = owner) {
    const { body } = await call("listJobs", { principal, query });
    return body as { items: Record<string, unknown>[]; next_cursor: string | null };
  }

  async function summarisation(status: string): Promise<string> {
    const id = newId();
    await fixture.sql(
      `insert into jobs (id, kind, session_id, workspace_id, status)
       values ($1, 'summarisation', $2, $3, $4)`,
      [id, sessionId, device.workspaceId, status],
    );
    return id;
  }

  function setStatus(status: string) {
    return fixture.sql("update jobs set status = $2 where id = $1", [jobId, status]);
  }

  it("jobs: are seen by those with native access, newest first, in pages", async () => {
    const summaryId = await summarisation("completed");
    const all = await list({});
    expect(all.items.map((job) => [job.id, job.kind])).toEqual([
      [summaryId, "summarisation"],
      [jobId, "transcription"],
    ]);
    expect(all.items[1]).toEqual({
      id: jobId,
      kind: "transcription",
      session_id: sessionId,
      workspace_id: device.workspaceId,
      status: "queued",
      progress: 0,
      error: "",
      created_at: expect.stringMatching(/Z$/),
    });
    const first = await list({ limit: 1 });
    const second = await list({ limit: 1, cursor: first.next_cursor });
    expect([first.items[0]?.id, second.items[0]?.id]).toEqual([summaryId, jobId]);
    expect(second.next_cursor).toBeNull();
    const only = async (query: Record<string, unknown>) => (await list(query)).items.length;
    expect(await only({ kind: "transcription" })).toBe(1);
    expect(await only({ status: "completed" })).toBe(1);
    expect(await only({ session_id: newId() })).toBe(0);
    const shared = await fixture.user();
    const moderator = await fixture.user("moderator");
    await fixture.join(device.workspaceId, moderator.id);
    await fixture.sql("insert into session_members values ($1, $2, 'shared')", [
      sessionId,
      shared.id,
    ]);
    const count = async (principal: UserPrincipal) => (await list({}, principal)).items.length;
    expect(await count(shared)).toBe(2);
    expect(await count(moderator)).toBe(0);
    expect(await count(admin)).toBe(0);
    expect((await get(jobId, shared)).status).toBe(200);
    expect(await codeOf(get(jobId, await fixture.user()))).toBe("forbidden");
    expect(await codeOf(get(newId()))).toBe("not_found");
    expect(await codeOf(cancel(summaryId, shared))).toBe("forbidden");
    expect(await codeOf(again({}, shared))).toBe("forbidden");
  });

  it("jobs: summaries that wait or run are cancelled, once and for good", async () => {
    for (const status of ["queued", "running"]) {
      const id = await summarisation(status);
      const { body } = await cancel(id);
      expect(body).toMatchObject({ id, status: "cancelled" });
      expect(body.completed_at).toBeDefined();
      expect((await cancel(id, admin)).body.status).toBe("cancelled");
    }
    expect(await codeOf(cancel(await summarisation("completed")))).toBe("conflict");
    expect(await codeOf(cancel(await summarisation("failed")))).toBe("conflict");
  });

  it("jobs: of transcriptions the actor decides", async () => {
    fixture.ask = async () => {
      throw new AppError("conflict", "The first one cannot be cancelled.");
    };
    await setStatus("running");
    expect(await codeOf(cancel(jobId))).toBe("conflict");
    const asked: unknown[] = [];
    fixture.ask = async (_id, command) => asked.push(command);
    await cancel(jobId);
    expect(asked).toEqual([{ type: "CancelRedo", byUserId: owner.id }]);
    await setStatus("completed");
    expect(await codeOf(cancel(jobId))).toBe("conflict");
  });

  it("jobs: a transcription is repeated with what it is told", async () => {
    const asked: unknown[] = [];
    fixture.ask = async (_id, command) => asked.push(command);
    await setStatus("completed");
    const { status, body } = await again({ forced_language: "en-GB", vocabulary: ["Rüti"] });
    expect([status, body.id, body.forced_language]).toEqual([202, jobId, "en-GB"]);
    expect(asked).toEqual([{ type: "Redo", byUserId: owner.id }]);
    expect(await codeOf(again({ engine: "none" }))).toBe("invalid_body");
    expect(await codeOf(again({ forced_language: "tlh" }))).toBe("language_unsupported");
    expect((await again(undefined, admin)).status).toBe(202);
    await setStatus("running");
    expect(await codeOf(again())).toBe("job_active");
  });

  it("jobs: who repeats a transcription is told how many edits that will replace, and nothing else", async () => {
    await setStatus("completed");
    const redo = () =>
      call("redoTranscription", { principal: admin, params: { job_id: jobId }, body: {} });
    const queued = "The session is being recognised once more.";
    for (const [edits, more] of [
      [0, ""],
      [1, " 1 edited segment will be replaced."],
      [3, " 3 edited segments will be replaced."],
    ] as const) {
      fixture.ask = async () => ({ attempt: 2, edits });
      expect(await redo()).toEqual({
        status: 200,
        body: { success: true, message: `${queued}${more}` },
      });
    }
    fixture.ask = async () => {
      throw new AppError("conflict", "This session has no audio.");
    };
    expect(await codeOf(redo())).toBe("conflict");
  });

  it("jobs: the record follows a repetition and its end, and says who asked", async () => {
    const story = await SessionStory.open(fixture, sessionId);
    const redo = { jobId, attempt: 2, byUserId: owner.id };
    await story.tell([{ type: "RedoRequested", ...redo }]);
    expect((await get(jobId)).body.status).toBe("queued");
    const replaced = { from: 0, to: 16_000, removed: [], added: [], sequences: [] };
    const { byUserId: _by, ...read } = redo;
    await story.tell([{ type: "TranscriptReplaced", ...read, ...replaced, editsReplaced: 3 }]);
    expect((await get(jobId)).body.edits_replaced).toBe(3);
    await story.tell([{ type: "RedoRequested", ...redo }]);
    expect((await get(jobId)).body.edits_replaced).toBeUndefined();
    await story.tell([{ type: "RedoCancelled", ...redo }]);
    expect((await get(jobId)).body).toMatchObject({ status: "cancelled", progress: 0 });
    expect((await cancel(jobId)).body.status).toBe("cancelled");
    const audited = await fixture.sql(
      "select actor_id, subject_id, detail from audit_log where kind = 'transcription_redone'",
    );
    const entry = { actor_id: owner.id, subject_id: jobId, detail: { attempt: 2 } };
    expect(audited).toEqual([entry, entry]);
    await fixture.sql("update sessions set status = 'deleted' where id = $1", [sessionId]);
    expect((await list({})).items).toEqual([]);
    expect(await codeOf(get(jobId))).toBe("not_found");
  });
});
