import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { ConformanceStage, expectProblem } from "../support/conformance-stage.ts";
import { cut } from "../support/paired-device.ts";
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
  let stage: ConformanceStage;
  beforeAll(async () => {
    stage = await ConformanceStage.open();
    await stage.record();
  });
  afterAll(() => stage?.close());

  const at = (path: string) => `/sessions/${stage.sessionId}${path}`;
  const asOwner = (method: string, path: string, body?: object) =>
    stage.send(method, at(path), { token: stage.owner.token, ...(body && { body }) });

  async function segments(): Promise<Segment[]> {
    const { body } = await asOwner("GET", "/segments?limit=100");
    return body.items as Segment[];
  }

  async function speakers(): Promise<Record<string, unknown>[]> {
    const { body } = await asOwner("GET", "/speakers");
    return body.items as Record<string, unknown>[];
  }

  async function audit(query: string): Promise<Entry[]> {
    const { token } = stage.admin;
    const page = await stage.done<{ items: Entry[] }>("GET", `/admin/audit?limit=100&${query}`, {
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
    const guest = await stage.guest();
    const claim = (token: string, body: object) =>
      stage.send("POST", at("/speaker-claims"), { token, body: { speaker_label: "S2", ...body } });
    const self = { source: "self_claim" };
    expect((await claim(guest.token, self)).status).toBe(200);
    expect((await claim(guest.token, self)).status).toBe(200);
    expectProblem(await claim(stage.owner.token, self), 409, "already_claimed");
    const given = { source: "moderator_assignment", assigned_user_id: stage.member.id };
    expectProblem(await claim(stage.moderator.token, given), 403, "forbidden");
    expect((await claim(stage.owner.token, given)).status).toBe(200);
    expectProblem(await claim(guest.token, self), 409, "already_claimed");
    const s2 = (await speakers()).find((each) => each.speaker_label === "S2");
    expect(s2).toMatchObject({ claimed_user_id: stage.member.id, source: given.source });
    const query = `session_id=${stage.sessionId}&kind=speaker_claim_overridden`;
    expect(await audit(query)).toEqual([
      expect.objectContaining({
        actor: { kind: "user", id: stage.owner.id },
        subject_id: guest.id,
        detail: { label: "S2", assigned_user_id: stage.member.id },
      }),
    ]);
  });

  it("redo: the job keeps its id, the old text stays until the new one replaces it", async () => {
    const before = (await segments()).map(({ text }) => text).join(" ");
    const path = `/admin/jobs/transcriptions/${stage.jobId}`;
    const { token } = stage.admin;
    await stage.done("POST", `${path}/redo`, { token });
    let during = 0;
    await until(
      async () => {
        const job = await stage.done<{ status: string; progress: number }>("GET", path, { token });
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
    expect((await asOwner("GET", "")).body.transcription_job_id).toBe(stage.jobId);
  });

  it("speaker labels: claims are kept by a redo, and follow when the older label survives a merge", async () => {
    const before = await speakers();
    expect(before.find((each) => each.speaker_label === "S2")).toMatchObject({
      claimed_user_id: stage.member.id,
    });
    const merged = await asOwner("POST", "/speakers/merge", { from: "S1", into: "S2" });
    expect(merged.body).toEqual({ from: "S2", into: "S1" });
    const after = await speakers();
    expect(after.map((each) => each.speaker_label)).not.toContain("S2");
    expect(after.find((each) => each.speaker_label === "S1")).toMatchObject({
      claimed_user_id: stage.member.id,
    });
  });

  it("progress: of a live job below 1 until it is complete, and never back", async () => {
    const device = await stage.pair();
    const sessionId = await stage.start(device);
    const { token } = stage.owner;
    const record = await stage.done("GET", `/sessions/${sessionId}`, { token });
    const path = `/jobs/${record.transcription_job_id}`;
    const seen: number[] = [];
    const look = async () => {
      const job = await stage.done<{ status: string; progress: number }>("GET", path, { token });
      seen.push(job.progress);
      if (job.status !== "completed") expect(job.progress).toBeLessThan(1);
      return job.status === "completed";
    };
    for (const [sequence, pcm] of cut(2).slice(0, 3).entries()) {
      await stage.upload(sessionId, sequence, pcm, device.key);
      await look();
    }
    await stage.stop(device);
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
    const native = await stage.person("admin");
    await asOwner("POST", "/members", { user_id: native.id });
    const path = `/admin/jobs/transcriptions/${stage.jobId}`;
    const job = await stage.done<{ transcription_text: string }>("GET", path, {
      token: native.token,
    });
    expect(job).toMatchObject({ content_visible: false, elevation_required: false });
    expect(job.transcription_text).toContain("[redacted-span]");
    expect(job.transcription_text.replaceAll("[redacted-span]", "").trim()).not.toBe("");
  });

  it("audit: what a service key does is on record as the key's", async () => {
    const body = { workspace_id: stage.workspaceId, name: "Bot", scopes: ["sessions:write"] };
    const options = { token: stage.owner.token, body };
    const made = await stage.done<{ id: string; key: string }>("POST", "/api-keys", options, 201);
    const last = (await segments()).at(-1);
    const span = { start_ms: last?.start_ms, end_ms: last?.end_ms };
    await stage.done("POST", at("/redactions"), { key: made.key, body: span }, 201);
    const [entry] = await audit(`session_id=${stage.sessionId}&kind=span_redacted`);
    expect(entry).toMatchObject({ actor: { kind: "service", id: made.id } });
  });

  it("audit: elevation and content reads under it, one entry each, before the content", async () => {
    const { token, id } = stage.admin;
    const body = { reason: "Complaint 4711", session_id: stage.sessionId };
    await stage.done("POST", "/admin/content-elevate", { token, body });
    const query = `session_id=${stage.sessionId}&actor_id=${id}`;
    const before = (await audit(`${query}&kind=content_read`)).length;
    for (const path of ["/segments", "/transcript", "/chunks"]) {
      await stage.done("GET", at(path), { token });
    }
    await stage.done("GET", `/admin/jobs/transcriptions/${stage.jobId}`, { token });
    expect((await audit(`${query}&kind=content_read`)).length - before).toBe(4);
    expect((await audit(`${query}&kind=content_elevated`)).length).toBe(1);
  });

  it("deletion: 404 for all but admins, sockets close, the job still answers", async () => {
    const { token } = stage.owner;
    const viewer = new Viewer(stage.service.ready.live_url, { authorization: `Bearer ${token}` });
    await viewer.opened();
    viewer.send({ type: "Subscribe", session_id: stage.sessionId });
    const snapshot = await viewer.received("Snapshot");
    const guest = await stage.guest();
    const receipt = await asOwner("DELETE", "");
    expect(receipt.body).toMatchObject({
      success: true,
      session_id: stage.sessionId,
      kind: "session_deleted_by_owner",
      removed: { audio_chunks: 11 },
    });
    await until(() => viewer.closeCode !== undefined, "the socket to close", 5_000);
    expect(viewer.closeCode).toBe(4404);
    expect(Number(snapshot.seq)).toBeGreaterThan(0);
    const paths = ["", "/segments", "/transcript", "/chunks", "/audio", "/summaries", "/graph"];
    for (const path of paths) {
      for (const person of [stage.owner, stage.moderator]) {
        const answer = await stage.send("GET", at(path), { token: person.token });
        expectProblem(answer, 404, "not_found");
      }
    }
    const gone = await stage.send("GET", at(""), { token: guest.token });
    expect([401, 404]).toContain(gone.status);
    const admin = { token: stage.admin.token };
    expect((await stage.done("GET", at(""), admin)).status).toBe("deleted");
    expectProblem(await stage.send("GET", at("/transcript"), admin), 404, "not_found");
    const late = await stage.upload(stage.sessionId, 11, cut(2)[11] as Buffer);
    expectProblem(late, 404, "not_found");
    const job = await stage.done("GET", `/admin/jobs/transcriptions/${stage.jobId}`, admin);
    expect(job).toMatchObject({
      session_was_deleted: true,
      transcription_text: "[redacted-session-deleted]",
      deletion_event_kind: "session_deleted_by_owner",
    });
  });

  it("deletion: an ended or deleted session is answered with an Error and its code", async () => {
    const { token } = stage.owner;
    const viewer = new Viewer(stage.service.ready.live_url, { authorization: `Bearer ${token}` });
    await viewer.opened();
    viewer.send({ type: "Subscribe", session_id: stage.sessionId });
    const error = await viewer.received("Error");
    expect(error).toMatchObject({ session_id: stage.sessionId, retryable: false });
    viewer.socket.close();
  });

  it("deletion: an erased account leaves redacted-account-erasure and its kind behind", async () => {
    const leaver = await stage.person("participant");
    const { token } = leaver;
    const made = await stage.done<{ id: string }>(
      "POST",
      "/workspaces",
      { token, body: { name: "Left" } },
      201,
    );
    const body = { workspace_id: made.id };
    const device = await stage.done<Record<string, string>>(
      "POST",
      "/devices",
      { token, body },
      201,
    );
    const owned = { id: device.device_id ?? "", key: device.api_key ?? "", secret: "" };
    const sessionId = await stage.start(owned);
    for (const [sequence, pcm] of cut(2).slice(0, 3).entries()) {
      await stage.upload(sessionId, sequence, pcm, owned.key);
    }
    await stage.stop(owned);
    const record = await stage.done<Record<string, string>>("GET", `/sessions/${sessionId}`, {
      token,
    });
    await stage.jobDone(`/jobs/${record.transcription_job_id}`, token);
    await stage.done("DELETE", "/users/me", { token });
    const path = `/admin/jobs/transcriptions/${record.transcription_job_id}`;
    let job: Record<string, unknown> = {};
    await until(
      async () => {
        job = await stage.done("GET", path, { token: stage.admin.token });
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
    const { token } = stage.admin;
    const person = await stage.person("participant");
    await stage.done("PATCH", `/users/${person.id}`, { token, body: { role: "moderator" } });
    for (const action of ["disable", "enable"]) {
      await stage.done("POST", `/users/${person.id}/${action}`, { token });
    }
    const wrong = { body: { email: person.email, password: "not the right one" } };
    expectProblem(await stage.send("POST", "/auth/login", wrong), 401);
    const body = { workspace_id: stage.workspaceId, name: "Archive", scopes: ["query"] };
    const owner = { token: stage.owner.token };
    const key = await stage.done<{ id: string }>("POST", "/api-keys", { ...owner, body }, 201);
    await stage.done("DELETE", `/api-keys/${key.id}`, owner);
    const kinds = (entries: Entry[]) => entries.map(({ kind }) => kind);
    const ofPerson = kinds(await audit(`subject_id=${person.id}`)).join(" ");
    for (const word of ["role", "disabled", "enabled", "login"]) expect(ofPerson).toContain(word);
    expect((await audit(`subject_id=${key.id}`)).length).toBe(2);
    const ofSession = kinds(await audit(`session_id=${stage.sessionId}`));
    expect(ofSession).toContain("session_deleted_by_owner");
    const verdict = await stage.done("GET", "/admin/audit/verify", { token });
    expect(verdict).toMatchObject({ valid: true, protected: true });
  });
});
