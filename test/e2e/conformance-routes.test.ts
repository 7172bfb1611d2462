import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { newId } from "../../src/base/ids.ts";
import {
  ConformanceFixture,
  expectMembers,
  expectProblem,
  list,
  text,
  time,
  uuid,
} from "../support/conformance-fixture.ts";

const DONE = { success: (value: unknown) => value === true, message: text };

/** Every endpoint for people with every code that it promises. */
describe("conformance: routes for people", () => {
  let fixture: ConformanceFixture;
  let guest: string;
  beforeAll(async () => {
    fixture = await ConformanceFixture.open();
    await fixture.record();
    guest = (await fixture.guest()).token;
  });
  afterAll(() => fixture?.close());

  /** No credential, a wrong one and a device's key are all 401. */
  async function expect401(method: string, path: string, body?: object): Promise<void> {
    const options = body === undefined ? {} : { body };
    expectProblem(await fixture.send(method, path, options), 401, "unauthorized");
    expectProblem(await fixture.send(method, path, { ...options, token: "x.y.z" }), 401);
    expectProblem(await fixture.send(method, path, { ...options, key: fixture.device.key }), 401);
  }

  async function expect404(method: string, path: string, token: string, body?: object) {
    for (const id of [newId(), "nonsense", newId().toUpperCase()]) {
      const options = body === undefined ? { token } : { token, body };
      expectProblem(await fixture.send(method, path.replace("*", id), options), 404, "not_found");
    }
  }

  /** Neither participant nor moderator nor guest may; their role alone forbids it, also for nothing. */
  async function expectAdminsOnly(method: string, path: string, body?: object): Promise<void> {
    for (const token of [fixture.owner.token, fixture.moderator.token, guest]) {
      const options = body === undefined ? { token } : { token, body };
      expectProblem(await fixture.send(method, path, options), 403, "forbidden");
    }
  }

  it("GET /admin/jobs/transcriptions/{job_id}: 200 401 403 404", async () => {
    const path = `/admin/jobs/transcriptions/${fixture.jobId}`;
    await fixture.done("GET", path, { token: fixture.admin.token });
    await expect401("GET", path);
    await expectAdminsOnly("GET", path);
    await expectAdminsOnly("GET", "/admin/jobs/transcriptions/none");
    await expect404("GET", "/admin/jobs/transcriptions/*", fixture.admin.token);
  });

  it("GET /admin/jobs/summarisations/{id}: 200 401 403 404", async () => {
    const path = `/admin/jobs/summarisations/${await fixture.summary()}`;
    await fixture.done("GET", path, { token: fixture.admin.token });
    await expect401("GET", path);
    await expectAdminsOnly("GET", path);
    await expect404("GET", "/admin/jobs/summarisations/*", fixture.admin.token);
  });

  it("POST /admin/jobs/transcriptions/{job_id}/redo: 200 401 403 404 409", async () => {
    const path = `/admin/jobs/transcriptions/${fixture.jobId}/redo`;
    const { token } = fixture.admin;
    await expect401("POST", path);
    await expectAdminsOnly("POST", path);
    await expect404("POST", "/admin/jobs/transcriptions/*/redo", token);
    const wrong = { token, body: { forced_language: 5 } };
    expectProblem(await fixture.send("POST", path, wrong), 400, "invalid_body");
    const body = { forced_language: "en", engine: "moonshine-tiny-en", vocabulary: ["Anna"] };
    expectMembers(await fixture.done("POST", path, { token, body }), DONE);
    expectProblem(await fixture.send("POST", path, { token }), 409, "job_active");
    await fixture.jobDone(`/admin/jobs/transcriptions/${fixture.jobId}`);
    const kept = { sessionId: fixture.sessionId, jobId: fixture.jobId };
    const gone = await fixture.record(1);
    Object.assign(fixture, kept);
    await fixture.done("DELETE", `/sessions/${gone.sessionId}`, { token: fixture.owner.token });
    const late = `/admin/jobs/transcriptions/${gone.jobId}/redo`;
    expectProblem(await fixture.send("POST", late, { token }), 409, "session_deleted");
  });

  it("POST /users/{id}/disable and /enable: 200, idempotent, 400 401 403 404", async () => {
    const { token, id } = fixture.admin;
    const person = await fixture.person("participant");
    for (const action of ["disable", "enable"]) {
      const path = `/users/${person.id}/${action}`;
      await expect401("POST", path);
      await expectAdminsOnly("POST", path);
      await expect404("POST", `/users/*/${action}`, token);
      const self = await fixture.send("POST", `/users/${id}/${action}`, { token });
      expectProblem(self, 400, "bad_request");
      for (let time = 0; time < 2; time += 1) {
        expectMembers(await fixture.done("POST", path, { token }), DONE);
      }
    }
  });

  it("PUT /workshops/{w}/characters/{c}: 200 400 401 403 404", async () => {
    const { token } = fixture.owner;
    const wanted = { token, body: { workspace_id: fixture.workspaceId, name: "The Seagull" } };
    const shop = await fixture.done<{ id: string }>("POST", "/workshops", wanted, 201);
    const below = `/workshops/${shop.id}/characters`;
    const named = { token, body: { name: "Nina" } };
    const made = await fixture.done<{ id: string }>("POST", below, named, 201);
    const path = `${below}/${made.id}`;
    const body = { name: "Irina", description: "An actress", is_active: false };
    expect(await fixture.done("PUT", path, { token, body })).toMatchObject({
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
      const answer = await fixture.send("PUT", path, { token, body: wrong });
      expectProblem(answer, 400, "invalid_body");
    }
    await expect401("PUT", path, body);
    for (const each of [fixture.stranger.token, guest]) {
      expectProblem(await fixture.send("PUT", path, { token: each, body }), 403, "forbidden");
    }
    await expect404("PUT", `${below}/*`, token, body);
    await expect404("PUT", `/workshops/*/characters/${made.id}`, token, body);
  });

  it("POST /workspaces: 201 private and owned, 400 401 403", async () => {
    const { token } = fixture.stranger;
    const body = { name: "Mine", preferred_language: "de-CH" };
    const made = await fixture.done<{ id: string }>("POST", "/workspaces", { token, body }, 201);
    expect(made).toMatchObject({ ...body, workspace_type: "private" });
    const members = await fixture.done<{ items: object[] }>(
      "GET",
      `/workspaces/${made.id}/members`,
      {
        token,
      },
    );
    expect(members.items).toEqual([
      expect.objectContaining({ user_id: fixture.stranger.id, role: "owner" }),
    ]);
    const plain = { token, body: { name: "Plain" } };
    expect(await fixture.done("POST", "/workspaces", plain, 201)).toMatchObject({
      preferred_language: "en",
    });
    for (const wrong of [
      {},
      { name: 1 },
      { name: "x", preferred_language: "not a tag" },
      { name: "x", preferred_language: null },
    ]) {
      const answer = await fixture.send("POST", "/workspaces", { token, body: wrong });
      expectProblem(answer, 400, "invalid_body");
    }
    await expect401("POST", "/workspaces", body);
    const byGuest = await fixture.send("POST", "/workspaces", { token: guest, body });
    expectProblem(byGuest, 403, "forbidden");
  });

  const query = { query: "What did the team finish?" };
  const badQueries = [{}, { query: "" }, { query: "  " }, { query: 4 }, { query: null }];

  it("POST /workspaces/{id}/agentic-query: 200 400 401 403 404", async () => {
    const path = `/workspaces/${fixture.workspaceId}/agentic-query`;
    const { token } = fixture.owner;
    const answer = await fixture.done("POST", path, { token, body: query });
    expectMembers(answer, { answer: text, tools_used: list, citations: list });
    for (const body of badQueries) {
      expectProblem(await fixture.send("POST", path, { token, body }), 400, "invalid_body");
    }
    await expect401("POST", path, query);
    for (const each of [fixture.stranger.token, guest]) {
      const refused = await fixture.send("POST", path, { token: each, body: query });
      expectProblem(refused, 403, "forbidden");
    }
    const admin = { token: fixture.admin.token, body: query };
    expectProblem(await fixture.send("POST", path, admin), 403, "elevation_required");
    await expect404("POST", "/workspaces/*/agentic-query", token, query);
  });

  it("POST /sessions/{session_id}/hirag-query: 200 400 401 403 404", async () => {
    const path = `/sessions/${fixture.sessionId}/hirag-query`;
    for (const token of [fixture.owner.token, guest]) {
      const answer = await fixture.done("POST", path, { token, body: query });
      expectMembers(answer, { answer: text, tools_used: list, citations: list });
    }
    const { token } = fixture.owner;
    for (const body of badQueries) {
      expectProblem(await fixture.send("POST", path, { token, body }), 400, "invalid_body");
    }
    await expect401("POST", path, query);
    for (const each of [fixture.stranger.token, fixture.member.token]) {
      const refused = await fixture.send("POST", path, { token: each, body: query });
      expectProblem(refused, 403, "forbidden");
    }
    const admin = { token: fixture.admin.token, body: query };
    expectProblem(await fixture.send("POST", path, admin), 403, "elevation_required");
    await expect404("POST", "/sessions/*/hirag-query", token, query);
  });

  it("POST /sessions/{session_id}/speaker-claims: 200 400 401 403 404 409", async () => {
    const path = `/sessions/${fixture.sessionId}/speaker-claims`;
    const { token } = fixture.owner;
    const own = { speaker_label: "S1", source: "self_claim" };
    const given = { ...own, source: "moderator_assignment", assigned_user_id: fixture.member.id };
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
      expectProblem(await fixture.send("POST", path, { token, body }), 400, "invalid_body");
    }
    await expect401("POST", path, own);
    const strange = await fixture.send("POST", path, { token: fixture.stranger.token, body: own });
    expectProblem(strange, 403, "forbidden");
    const byGuest = await fixture.send("POST", path, { token: guest, body: given });
    expectProblem(byGuest, 403, "forbidden");
    await expect404("POST", "/sessions/*/speaker-claims", token, own);
    for (const body of [
      { ...own, speaker_label: "S99" },
      { ...given, assigned_user_id: newId() },
    ]) {
      expectProblem(await fixture.send("POST", path, { token, body }), 404, "not_found");
    }
    const byMe = await fixture.done("POST", path, { token: guest, body: own });
    expectMembers(byMe, { speaker_label: text, source: text, claimed_user_id: uuid });
    expectProblem(await fixture.send("POST", path, { token, body: own }), 409, "already_claimed");
  });

  it("GET /sessions/{session_id}/chunks: 200 401 403 404", async () => {
    const path = `/sessions/${fixture.sessionId}/chunks`;
    await fixture.done("GET", path, { token: guest });
    await expect401("GET", path);
    const { token } = fixture.stranger;
    expectProblem(await fixture.send("GET", path, { token }), 403, "forbidden");
    const admin = await fixture.send("GET", path, { token: fixture.admin.token });
    expectProblem(admin, 403, "elevation_required");
    await expect404("GET", "/sessions/*/chunks", fixture.owner.token);
  });

  it("POST /admin/content-elevate: 200 400 401 403 404", async () => {
    const path = "/admin/content-elevate";
    const { token } = fixture.admin;
    const reason = "Complaint 4711";
    const minutes = async (body: object): Promise<number> => {
      const before = Date.now();
      const elevated = await fixture.done<{ expires_at: string }>("POST", path, { token, body });
      return Math.round((Date.parse(elevated.expires_at) - before) / 60_000);
    };
    const session_id = fixture.sessionId;
    const one = await fixture.done("POST", path, { token, body: { reason, session_id } });
    expectMembers(one, { ...DONE, elevation_id: uuid, session_id: uuid, expires_at: time });
    const all = await fixture.done("POST", path, { token, body: { reason } });
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
      expectProblem(await fixture.send("POST", path, { token, body }), 400, "invalid_body");
    }
    for (const each of ["x".repeat(10), "x".repeat(500)]) {
      expect(await minutes({ reason: each, session_id })).toBe(30);
    }
    await expect401("POST", path, { reason });
    await expectAdminsOnly("POST", path, { reason });
    for (const id of [newId(), "none"]) {
      const answer = await fixture.send("POST", path, { token, body: { reason, session_id: id } });
      expectProblem(answer, 404, "not_found");
    }
  });
});
