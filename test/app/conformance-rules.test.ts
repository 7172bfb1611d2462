import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { ConformanceFixture, expectProblem } from "../support/conformance-fixture.ts";
import { scriptedChunks } from "../support/paired-device.ts";
import { until } from "../support/until.ts";
import { Viewer } from "../support/viewer.ts";

interface Segment {
  id: string;
  start_ms: number;
  end_ms: number;
  speaker_label: string;
  text: string;
}

interface Entry {
  kind: string;
  subject_id?: string;
  session_id?: string;
}

/** Stands in an order that ends with the deletion of the session. */
describe("conformance: rules with teeth", () => {
  let fixture: ConformanceFixture;
  beforeAll(async () => {
    fixture = await ConformanceFixture.open();
    await fixture.record();
  });
  afterAll(() => fixture?.close());

  const at = (path: string) => `/sessions/${fixture.sessionId}${path}`;
  const asOwner = (method: string, path: string, body?: object) =>
    fixture.send(method, at(path), { token: fixture.owner.token, ...(body && { body }) });

  async function segments(): Promise<Segment[]> {
    const { body } = await asOwner("GET", "/segments?limit=100");
    return body.items as Segment[];
  }

  async function speakers(): Promise<Record<string, unknown>[]> {
    const { body } = await asOwner("GET", "/speakers");
    return body.items as Record<string, unknown>[];
  }

  async function audit(query: string): Promise<Entry[]> {
    const { token } = fixture.admin;
    const page = await fixture.done<{ items: Entry[] }>("GET", `/admin/audit?limit=100&${query}`, {
      token,
    });
    return page.items;
  }

  it("speaker labels: S1, S2, … in order of first speech", async () => {
    const heard = [...new Set((await segments()).map((each) => each.speaker_label))];
    const labels = heard.filter((label) => label !== "UU");
    expect(labels.length).toBeGreaterThan(1);
    expect(labels).toEqual(labels.map((_, index) => `S${index + 1}`));
  });

  it("speaker labels: an assignment overrides a self claim, a self claim overrides nothing", async () => {
    const guest = await fixture.guest();
    const claim = (token: string, body: object) =>
      fixture.send("POST", at("/speaker-claims"), {
        token,
        body: { speaker_label: "S2", ...body },
      });
    const self = { source: "self_claim" };
    expect((await claim(guest.token, self)).status).toBe(200);
    expect((await claim(guest.token, self)).status).toBe(200);
    expectProblem(await claim(fixture.owner.token, self), 409, "already_claimed");
    const given = { source: "moderator_assignment", assigned_user_id: fixture.member.id };
    expectProblem(await claim(fixture.moderator.token, given), 403, "forbidden");
    expect((await claim(fixture.owner.token, given)).status).toBe(200);
    expectProblem(await claim(guest.token, self), 409, "already_claimed");
    const s2 = (await speakers()).find((each) => each.speaker_label === "S2");
    expect(s2).toMatchObject({ claimed_user_id: fixture.member.id, source: given.source });
    const query = `session_id=${fixture.sessionId}&kind=speaker_claim_overridden`;
    expect(await audit(query)).toEqual([
      expect.objectContaining({
        actor: { kind: "user", id: fixture.owner.id },
        subject_id: guest.id,
        detail: { label: "S2", assigned_user_id: fixture.member.id },
      }),
    ]);
  });

  it("redo: the job keeps its id, the old text stays until the new one replaces it", async () => {
    const before = (await segments()).map(({ text }) => text).join(" ");
    const path = `/admin/jobs/transcriptions/${fixture.jobId}`;
    const { token } = fixture.admin;
    await fixture.done("POST", `${path}/redo`, { token });
    let during = 0;
    await until(
      async () => {
        const job = await fixture.done<{ status: string; progress: number }>("GET", path, {
          token,
        });
        const words = (await segments()).map(({ text }) => text).join(" ");
        expect(words.length).toBeGreaterThan(before.length / 2);
        if (job.status === "running") {
          expect(job.progress).toBeGreaterThanOrEqual(during);
          during = job.progress;
        }
        return job.status === "completed";
      },
      "the redo to complete",
      120_000,
    );
    expect((await asOwner("GET", "")).body.transcription_job_id).toBe(fixture.jobId);
  });

  it("speaker labels: claims are kept by a redo, and follow when the older label survives a merge", async () => {
    const before = await speakers();
    expect(before.find((each) => each.speaker_label === "S2")).toMatchObject({
      claimed_user_id: fixture.member.id,
    });
    const merged = await asOwner("POST", "/speakers/merge", { from: "S1", into: "S2" });
    expect(merged.body).toEqual({ from: "S2", into: "S1" });
    const after = await speakers();
    expect(after.map((each) => each.speaker_label)).not.toContain("S2");
    expect(after.find((each) => each.speaker_label === "S1")).toMatchObject({
      claimed_user_id: fixture.member.id,
    });
  });

  it("progress: of a live job below 1 until it is complete, and never back", async () => {
    const device = await fixture.pair();
    const sessionId = await fixture.start(device);
    const { token } = fixture.owner;
    const record = await fixture.done("GET", `/sessions/${sessionId}`, { token });
    const path = `/jobs/${record.transcription_job_id}`;
    const seen: number[] = [];
    const look = async () => {
      const job = await fixture.done<{ status: string; progress: number }>("GET", path, { token });
      seen.push(job.progress);
      if (job.status !== "completed") expect(job.progress).toBeLessThan(1);
      return job.status === "completed";
    };
    for (const [sequence, pcm] of scriptedChunks(2).slice(0, 3).entries()) {
      await fixture.upload(sessionId, sequence, pcm, device.key);
      await look();
    }
    await fixture.stop(device);
    await until(look, "the job to complete", 60_000);
    expect(seen).toEqual([...seen].sort((one, other) => one - other));
    expect(seen.at(-1)).toBe(1);
  });

  it("content gating: a redacted span is hidden, the rest stands, and no elevation is asked for", async () => {
    const [first] = (await segments()) as [Segment];
    const span = { start_ms: first.start_ms, end_ms: first.end_ms - 1 };
    expect((await asOwner("POST", "/redactions", span)).status).toBe(201);
    const after = await segments();
    expect(after[0]?.text).toBe("[redacted-span]");
    expect(after.some(({ text }) => text !== "[redacted-span]")).toBe(true);
    const native = await fixture.person("admin");
    await fixture.admit(`/sessions/${fixture.sessionId}`, native);
    const path = `/admin/jobs/transcriptions/${fixture.jobId}`;
    const job = await fixture.done<{ transcription_text: string }>("GET", path, {
      token: native.token,
    });
    expect(job).toMatchObject({ content_visible: false, elevation_required: false });
    expect(job.transcription_text).toContain("[redacted-span]");
    expect(job.transcription_text.replaceAll("[redacted-span]", "").trim()).not.toBe("");
  });

  it("audit: what a service key does is on record as the key's", async () => {
    const body = { workspace_id: fixture.workspaceId, name: "Bot", scopes: ["sessions:write"] };
    const options = { token: fixture.owner.token, body };
    const made = await fixture.done<{ id: string; key: string }>("POST", "/api-keys", options, 201);
    const last = (await segments()).at(-1);
    const span = { start_ms: last?.start_ms, end_ms: last?.end_ms };
    await fixture.done("POST", at("/redactions"), { key: made.key, body: span }, 201);
    const [entry] = await audit(`session_id=${fixture.sessionId}&kind=span_redacted`);
    expect(entry).toMatchObject({ actor: { kind: "service", id: made.id } });
  });

  it("audit: elevation and content reads under it, one entry each, before the content", async () => {
    const { token, id } = fixture.admin;
    const body = { reason: "Complaint 4711", session_id: fixture.sessionId };
    await fixture.done("POST", "/admin/content-elevate", { token, body });
    const query = `session_id=${fixture.sessionId}&actor_id=${id}`;
    const before = (await audit(`${query}&kind=content_read`)).length;
    for (const path of ["/segments", "/transcript", "/chunks"]) {
      await fixture.done("GET", at(path), { token });
    }
    await fixture.done("GET", `/admin/jobs/transcriptions/${fixture.jobId}`, { token });
    expect((await audit(`${query}&kind=content_read`)).length - before).toBe(4);
    expect((await audit(`${query}&kind=content_elevated`)).length).toBe(1);
  });

  it("deletion: 404 for all but admins, sockets close, the job still answers", async () => {
    const { token } = fixture.owner;
    const viewer = new Viewer(fixture.service.ready.live_url, { authorization: `Bearer ${token}` });
    await viewer.opened();
    viewer.send({ type: "Subscribe", session_id: fixture.sessionId });
    const snapshot = await viewer.received("Snapshot");
    const guest = await fixture.guest();
    const receipt = await asOwner("DELETE", "");
    expect(receipt.body).toMatchObject({
      success: true,
      session_id: fixture.sessionId,
      kind: "session_deleted_by_owner",
      removed: { audio_chunks: 11 },
    });
    await until(() => viewer.closeCode !== undefined, "the socket to close", 5_000);
    expect(viewer.closeCode).toBe(4404);
    expect(Number(snapshot.seq)).toBeGreaterThan(0);
    const paths = ["", "/segments", "/transcript", "/chunks", "/audio", "/summaries", "/graph"];
    for (const path of paths) {
      for (const person of [fixture.owner, fixture.moderator]) {
        const answer = await fixture.send("GET", at(path), { token: person.token });
        expectProblem(answer, 404, "not_found");
      }
    }
    const gone = await fixture.send("GET", at(""), { token: guest.token });
    expect([401, 404]).toContain(gone.status);
    const admin = { token: fixture.admin.token };
    expect((await fixture.done("GET", at(""), admin)).status).toBe("deleted");
    expectProblem(await fixture.send("GET", at("/transcript"), admin), 404, "not_found");
    const late = await fixture.upload(fixture.sessionId, 11, scriptedChunks(2)[11] as Buffer);
    expectProblem(late, 404, "not_found");
    const job = await fixture.done("GET", `/admin/jobs/transcriptions/${fixture.jobId}`, admin);
    expect(job).toMatchObject({
      session_was_deleted: true,
      transcription_text: "[redacted-session-deleted]",
      deletion_event_kind: "session_deleted_by_owner",
    });
  });

  it("deletion: an ended or deleted session is answered with an Error and its code", async () => {
    const { token } = fixture.owner;
    const viewer = new Viewer(fixture.service.ready.live_url, { authorization: `Bearer ${token}` });
    await viewer.opened();
    viewer.send({ type: "Subscribe", session_id: fixture.sessionId });
    const error = await viewer.received("Error");
    expect(error).toMatchObject({ session_id: fixture.sessionId, retryable: false });
    viewer.socket.close();
  });

  it("deletion: an erased account leaves redacted-account-erasure and its kind behind", async () => {
    const leaver = await fixture.person("participant");
    const { token } = leaver;
    const made = await fixture.done<{ id: string }>(
      "POST",
      "/workspaces",
      { token, body: { name: "Left" } },
      201,
    );
    const body = { workspace_id: made.id };
    const device = await fixture.done<Record<string, string>>(
      "POST",
      "/devices",
      { token, body },
      201,
    );
    const owned = { id: device.device_id ?? "", key: device.api_key ?? "", secret: "" };
    const sessionId = await fixture.start(owned);
    for (const [sequence, pcm] of scriptedChunks(2).slice(0, 3).entries()) {
      await fixture.upload(sessionId, sequence, pcm, owned.key);
    }
    await fixture.stop(owned);
    const record = await fixture.done<Record<string, string>>("GET", `/sessions/${sessionId}`, {
      token,
    });
    await fixture.jobDone(`/jobs/${record.transcription_job_id}`, token);
    await fixture.done("DELETE", "/users/me", { token });
    const path = `/admin/jobs/transcriptions/${record.transcription_job_id}`;
    let job: Record<string, unknown> = {};
    await until(
      async () => {
        job = await fixture.done("GET", path, { token: fixture.admin.token });
        return job.session_was_deleted === true;
      },
      "the account's sessions to be redacted",
      30_000,
    );
    expect(job).toMatchObject({
      transcription_text: "[redacted-account-erasure]",
      deletion_event_kind: "account_erasure_session_redacted",
      content_visible: false,
      elevation_required: false,
    });
  });

  it("audit: deletion, role changes, disable and enable, keys and failed logins are on record", async () => {
    const { token } = fixture.admin;
    const person = await fixture.person("participant");
    await fixture.done("PATCH", `/users/${person.id}`, { token, body: { role: "moderator" } });
    for (const action of ["disable", "enable"]) {
      await fixture.done("POST", `/users/${person.id}/${action}`, { token });
    }
    const wrong = { body: { email: person.email, password: "not the right one" } };
    expectProblem(await fixture.send("POST", "/auth/login", wrong), 401);
    const body = { workspace_id: fixture.workspaceId, name: "Archive", scopes: ["query"] };
    const owner = { token: fixture.owner.token };
    const key = await fixture.done<{ id: string }>("POST", "/api-keys", { ...owner, body }, 201);
    await fixture.done("DELETE", `/api-keys/${key.id}`, owner);
    const kinds = (entries: Entry[]) => entries.map(({ kind }) => kind);
    const ofPerson = kinds(await audit(`subject_id=${person.id}`)).join(" ");
    for (const word of ["role", "disabled", "enabled", "login"]) expect(ofPerson).toContain(word);
    expect((await audit(`subject_id=${key.id}`)).length).toBe(2);
    const ofSession = kinds(await audit(`session_id=${fixture.sessionId}`));
    expect(ofSession).toContain("session_deleted_by_owner");
    const verdict = await fixture.done("GET", "/admin/audit/verify", { token });
    expect(verdict).toMatchObject({ valid: true, protected: true });
  });
});
