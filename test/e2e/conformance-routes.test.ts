import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { newId } from "../../src/base/ids.ts";
import {
  ConformanceStage,
  expectMembers,
  expectProblem,
  list,
  text,
  time,
  uuid,
} from "../support/conformance-stage.ts";

const DONE = { success: (value: unknown) => value === true, message: text };

/** Every endpoint for people with every code that it promises. */
describe("conformance: routes for people", () => {
  let stage: ConformanceStage;
  let guest: string;
  beforeAll(async () => {
    stage = await ConformanceStage.open();
    await stage.record();
    guest = (await stage.guest()).token;
  });
  afterAll(() => stage?.close());

  /** No credential, a wrong one and a device's key are all 401. */
  async function expect401(method: string, path: string, body?: object): Promise<void> {
    const options = body === undefined ? {} : { body };
    expectProblem(await stage.send(method, path, options), 401, "unauthorized");
    expectProblem(await stage.send(method, path, { ...options, token: "x.y.z" }), 401);
    expectProblem(await stage.send(method, path, { ...options, key: stage.device.key }), 401);
  }

  async function expect404(method: string, path: string, token: string, body?: object) {
    for (const id of [newId(), "nonsense", newId().toUpperCase()]) {
      const options = body === undefined ? { token } : { token, body };
      expectProblem(await stage.send(method, path.replace("*", id), options), 404, "not_found");
    }
  }

  /** Neither participant nor moderator nor guest may; their role alone forbids it, also for nothing. */
  async function expectAdminsOnly(method: string, path: string, body?: object): Promise<void> {
    for (const token of [stage.owner.token, stage.moderator.token, guest]) {
      const options = body === undefined ? { token } : { token, body };
      expectProblem(await stage.send(method, path, options), 403, "forbidden");
    }
  }

  it("GET /admin/jobs/transcriptions/{job_id}: 200 401 403 404", async () => {
    const path = `/admin/jobs/transcriptions/${stage.jobId}`;
    await stage.done("GET", path, { token: stage.admin.token });
    await expect401("GET", path);
    await expectAdminsOnly("GET", path);
    await expectAdminsOnly("GET", "/admin/jobs/transcriptions/none");
    await expect404("GET", "/admin/jobs/transcriptions/*", stage.admin.token);
  });

  it("GET /admin/jobs/summarisations/{id}: 200 401 403 404", async () => {
    const path = `/admin/jobs/summarisations/${await stage.summary()}`;
    await stage.done("GET", path, { token: stage.admin.token });
    await expect401("GET", path);
    await expectAdminsOnly("GET", path);
    await expect404("GET", "/admin/jobs/summarisations/*", stage.admin.token);
  });

  it("POST /admin/jobs/transcriptions/{job_id}/redo: 200 401 403 404 409", async () => {
    const path = `/admin/jobs/transcriptions/${stage.jobId}/redo`;
    const { token } = stage.admin;
    await expect401("POST", path);
    await expectAdminsOnly("POST", path);
    await expect404("POST", "/admin/jobs/transcriptions/*/redo", token);
    const wrong = { token, body: { forced_language: 5 } };
    expectProblem(await stage.send("POST", path, wrong), 400, "invalid_body");
    const body = { forced_language: "en", engine: "pocketsphinx", vocabulary: ["Anna"] };
    expectMembers(await stage.done("POST", path, { token, body }), DONE);
    expectProblem(await stage.send("POST", path, { token }), 409, "job_active");
    await stage.jobDone(`/admin/jobs/transcriptions/${stage.jobId}`);
    const kept = { sessionId: stage.sessionId, jobId: stage.jobId };
    const gone = await stage.record(1);
    Object.assign(stage, kept);
    await stage.done("DELETE", `/sessions/${gone.sessionId}`, { token: stage.owner.token });
    const late = `/admin/jobs/transcriptions/${gone.jobId}/redo`;
    expectProblem(await stage.send("POST", late, { token }), 409, "session_deleted");
  });

  it("POST /users/{id}/disable and /enable: 200, idempotent, 400 401 403 404", async () => {
    const { token, id } = stage.admin;
    const person = await stage.person("participant");
    for (const action of ["disable", "enable"]) {
      const path = `/users/${person.id}/${action}`;
      await expect401("POST", path);
      await expectAdminsOnly("POST", path);
      await expect404("POST", `/users/*/${action}`, token);
      const self = await stage.send("POST", `/users/${id}/${action}`, { token });
      expectProblem(self, 400, "bad_request");
      for (let time = 0; time < 2; time += 1) {
        expectMembers(await stage.done("POST", path, { token }), DONE);
      }
    }
  });

  it("PUT /workshops/{w}/characters/{c}: 200 400 401 403 404", async () => {
    const { token } = stage.owner;
    const wanted = { token, body: { workspace_id: stage.workspaceId, name: "The Seagull" } };
    const shop = await stage.done<{ id: string }>("POST", "/workshops", wanted, 201);
    const below = `/workshops/${shop.id}/characters`;
    const named = { token, body: { name: "Nina" } };
    const made = await stage.done<{ id: string }>("POST", below, named, 201);
    const path = `${below}/${made.id}`;
    const body = { name: "Irina", description: "An actress", is_active: false };
    expect(await stage.done("PUT", path, { token, body })).toMatchObject({
      id: made.id,
      workshop_id: shop.id,
      ...body,
    });
    for (const wrong of [
      {},
      { name: 5 },
      { ...body, is_active: "no" },
      { ...body, description: null },
    ]) {
      const answer = await stage.send("PUT", path, { token, body: wrong });
      expectProblem(answer, 400, "invalid_body");
    }
    await expect401("PUT", path, body);
    for (const each of [stage.stranger.token, guest]) {
      expectProblem(await stage.send("PUT", path, { token: each, body }), 403, "forbidden");
    }
    await expect404("PUT", `${below}/*`, token, body);
    await expect404("PUT", `/workshops/*/characters/${made.id}`, token, body);
  });

  it("POST /workspaces: 201 private and owned, 400 401 403", async () => {
    const { token } = stage.stranger;
    const body = { name: "Mine", preferred_language: "de-CH" };
    const made = await stage.done<{ id: string }>("POST", "/workspaces", { token, body }, 201);
    expect(made).toMatchObject({ ...body, workspace_type: "private" });
    const members = await stage.done<{ items: object[] }>("GET", `/workspaces/${made.id}/members`, {
      token,
    });
    expect(members.items).toEqual([
      expect.objectContaining({ user_id: stage.stranger.id, role: "owner" }),
    ]);
    const plain = { token, body: { name: "Plain" } };
    expect(await stage.done("POST", "/workspaces", plain, 201)).toMatchObject({
      preferred_language: "en",
    });
    for (const wrong of [
      {},
      { name: 1 },
      { name: "x", preferred_language: "not a tag" },
      { name: "x", preferred_language: null },
    ]) {
      const answer = await stage.send("POST", "/workspaces", { token, body: wrong });
      expectProblem(answer, 400, "invalid_body");
    }
    await expect401("POST", "/workspaces", body);
    const byGuest = await stage.send("POST", "/workspaces", { token: guest, body });
    expectProblem(byGuest, 403, "forbidden");
  });

  const query = { query: "What did the team finish?" };
  const badQueries = [{}, { query: "" }, { query: "  " }, { query: 4 }, { query: null }];

  it("POST /workspaces/{id}/agentic-query: 200 400 401 403 404", async () => {
    const path = `/workspaces/${stage.workspaceId}/agentic-query`;
    const { token } = stage.owner;
    const answer = await stage.done("POST", path, { token, body: query });
    expectMembers(answer, { answer: text, tools_used: list, citations: list });
    for (const body of badQueries) {
      expectProblem(await stage.send("POST", path, { token, body }), 400, "invalid_body");
    }
    await expect401("POST", path, query);
    for (const each of [stage.stranger.token, guest]) {
      const refused = await stage.send("POST", path, { token: each, body: query });
      expectProblem(refused, 403, "forbidden");
    }
    const admin = { token: stage.admin.token, body: query };
    expectProblem(await stage.send("POST", path, admin), 403, "elevation_required");
    await expect404("POST", "/workspaces/*/agentic-query", token, query);
  });

  it("POST /sessions/{session_id}/hirag-query: 200 400 401 403 404", async () => {
    const path = `/sessions/${stage.sessionId}/hirag-query`;
    for (const token of [stage.owner.token, guest]) {
      const answer = await stage.done("POST", path, { token, body: query });
      expectMembers(answer, { answer: text, tools_used: list, citations: list });
    }
    const { token } = stage.owner;
    for (const body of badQueries) {
      expectProblem(await stage.send("POST", path, { token, body }), 400, "invalid_body");
    }
    await expect401("POST", path, query);
    for (const each of [stage.stranger.token, stage.member.token]) {
      const refused = await stage.send("POST", path, { token: each, body: query });
      expectProblem(refused, 403, "forbidden");
    }
    const admin = { token: stage.admin.token, body: query };
    expectProblem(await stage.send("POST", path, admin), 403, "elevation_required");
    await expect404("POST", "/sessions/*/hirag-query", token, query);
  });

  it("POST /sessions/{session_id}/speaker-claims: 200 400 401 403 404 409", async () => {
    const path = `/sessions/${stage.sessionId}/speaker-claims`;
    const { token } = stage.owner;
    const own = { speaker_label: "S1", source: "self_claim" };
    const given = { ...own, source: "moderator_assignment", assigned_user_id: stage.member.id };
    for (const body of [
      { source: "self_claim" },
      { ...own, speaker_label: "Anna" },
      { ...own, speaker_label: "UU" },
      { ...own, speaker_label: 1 },
      { speaker_label: "S1" },
      { ...own, source: "hearsay" },
      { ...given, assigned_user_id: undefined },
      { ...given, assigned_user_id: "nobody" },
    ]) {
      expectProblem(await stage.send("POST", path, { token, body }), 400, "invalid_body");
    }
    await expect401("POST", path, own);
    const strange = await stage.send("POST", path, { token: stage.stranger.token, body: own });
    expectProblem(strange, 403, "forbidden");
    const byGuest = await stage.send("POST", path, { token: guest, body: given });
    expectProblem(byGuest, 403, "forbidden");
    await expect404("POST", "/sessions/*/speaker-claims", token, own);
    for (const body of [
      { ...own, speaker_label: "S99" },
      { ...given, assigned_user_id: newId() },
    ]) {
      expectProblem(await stage.send("POST", path, { token, body }), 404, "not_found");
    }
    const byMe = await stage.done("POST", path, { token: guest, body: own });
    expectMembers(byMe, { speaker_label: text, source: text, claimed_user_id: uuid });
    expectProblem(await stage.send("POST", path, { token, body: own }), 409, "already_claimed");
  });

  it("GET /sessions/{session_id}/chunks: 200 401 403 404", async () => {
    const path = `/sessions/${stage.sessionId}/chunks`;
    await stage.done("GET", path, { token: guest });
    await expect401("GET", path);
    const { token } = stage.stranger;
    expectProblem(await stage.send("GET", path, { token }), 403, "forbidden");
    const admin = await stage.send("GET", path, { token: stage.admin.token });
    expectProblem(admin, 403, "elevation_required");
    await expect404("GET", "/sessions/*/chunks", stage.owner.token);
  });

  it("POST /admin/content-elevate: 200 400 401 403 404", async () => {
    const path = "/admin/content-elevate";
    const { token } = stage.admin;
    const reason = "Complaint 4711";
    const minutes = async (body: object): Promise<number> => {
      const before = Date.now();
      const elevated = await stage.done<{ expires_at: string }>("POST", path, { token, body });
      return Math.round((Date.parse(elevated.expires_at) - before) / 60_000);
    };
    const session_id = stage.sessionId;
    const one = await stage.done("POST", path, { token, body: { reason, session_id } });
    expectMembers(one, { ...DONE, elevation_id: uuid, session_id: uuid, expires_at: time });
    const all = await stage.done("POST", path, { token, body: { reason } });
    expectMembers(all, { ...DONE, elevation_id: uuid, expires_at: time });
    expect(await minutes({ reason, session_id })).toBe(30);
    expect(await minutes({ reason, session_id, duration_minutes: 240 })).toBe(240);
    for (const body of [
      {},
      { reason: "too short" },
      { reason: " ".repeat(20) },
      { reason: "x".repeat(501) },
      { reason: 1234567890 },
      { reason, duration_minutes: 241 },
      { reason, duration_minutes: 0 },
    ]) {
      expectProblem(await stage.send("POST", path, { token, body }), 400, "invalid_body");
    }
    for (const each of ["x".repeat(10), "x".repeat(500)]) {
      expect(await minutes({ reason: each, session_id })).toBe(30);
    }
    await expect401("POST", path, { reason });
    await expectAdminsOnly("POST", path, { reason });
    for (const id of [newId(), "none"]) {
      const answer = await stage.send("POST", path, { token, body: { reason, session_id: id } });
      expectProblem(answer, 404, "not_found");
    }
  });
});
