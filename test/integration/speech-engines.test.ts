import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import type { DevicePrincipal, UserPrincipal } from "../../src/access/principal.ts";
import { SessionAudio } from "../../src/recognition/session-audio-store.ts";
import { MOONSHINE, type SpeechEngine } from "../../src/wire/speech-engines.ts";
import { beginningOf } from "../support/opening-place.ts";
import { type Call, callRoute, codeOf, jsonBody } from "../support/route-call.ts";
import { SessionFixture } from "../support/session-fixture.ts";
import { SessionStory } from "../support/session-story.ts";
import { NO_FILES } from "../support/verified-audio.ts";

const HOUSE: SpeechEngine = { ...MOONSHINE, name: "house", languages: ["de", "en"] };
const HOSTED: SpeechEngine = { ...HOUSE, name: "hosted", local: false, costPerHour: "0.26 USD" };

describe("speech engines", () => {
  let fixture: SessionFixture;
  let device: DevicePrincipal;
  let owner: UserPrincipal;

  beforeAll(async () => {
    fixture = await SessionFixture.open();
    fixture.engines = [MOONSHINE, HOUSE, HOSTED];
  });
  afterAll(() => fixture.close());
  beforeEach(async () => {
    ({ device, owner } = await fixture.ownDevice());
  });

  async function call(id: string, overrides: Call) {
    const reply = await callRoute(fixture.routes, id, { principal: owner, ...overrides });
    return { status: reply.status, body: jsonBody(reply) };
  }

  const start = (body: object) =>
    call("startDeviceSession", { principal: device, params: { device_id: device.id }, body });

  const edit = (body: object) =>
    call("editWorkspace", { params: { id: device.workspaceId }, body });

  async function record(sessionId: unknown) {
    const params = { session_id: String(sessionId) };
    return (await call("getSession", { params })).body;
  }

  async function wishOf(sessionId: unknown) {
    const audio = new SessionAudio(fixture.pool, NO_FILES);
    return (await audio.opening(beginningOf(String(sessionId)))).engineRequest;
  }

  async function completed(sessionId: unknown) {
    const { transcription_job_id: jobId } = await record(sessionId);
    await fixture.sql("update jobs set status = 'completed' where id = $1", [jobId]);
    return String(jobId);
  }

  it("are listed with what they can do", async () => {
    const { body } = await call("listEngines", {});
    expect(body.items).toMatchObject([
      { name: "hosted", local: false, cost_per_hour: "0.26 USD" },
      { name: "house", languages: ["de", "en"], local: true },
      { name: "moonshine-tiny-en", streaming: true, word_times: true, confidence_floor: 0.5 },
    ]);
  });

  it("one is named where a session starts, and reads it", async () => {
    const { body } = await start({ engine: "house", language: "de" });
    expect(await wishOf(body.session_id)).toEqual({
      ...{ language: "de", asked: "house", mayLeave: false },
      ...{ current: undefined, preferred: undefined, tenant: expect.any(String) },
    });
  });

  it("one that is unknown or does not know the language is refused by name", async () => {
    expect(await codeOf(start({ engine: "nobody" }))).toBe("invalid_body");
    expect(await codeOf(start({ engine: "moonshine-tiny-en", language: "de" }))).toBe(
      "invalid_body",
    );
    expect(await codeOf(edit({ speech_engine: "nobody" }))).toBe("invalid_body");
  });

  it("one that is not local waits for the owner's leave, which is audited", async () => {
    expect(await codeOf(start({ engine: "hosted" }))).toBe("forbidden");
    const allowed = await edit({ remote_engines: true, speech_engine: "hosted" });
    expect(allowed.body).toMatchObject({ remote_engines: true, speech_engine: "hosted" });
    const audited = await fixture.sql(
      "select kind, actor_id, detail from audit_log where workspace_id = $1 and kind = 'remote_engines_changed'",
      [device.workspaceId],
    );
    expect(audited).toEqual([
      {
        kind: "remote_engines_changed",
        actor_id: owner.id,
        detail: { before: false, after: true },
      },
    ]);
    const { body } = await start({ engine: "hosted" });
    expect(await wishOf(body.session_id)).toMatchObject({ preferred: "hosted", mayLeave: true });
  });

  it("leave to engines that are not local is given by owners, not by administrators", async () => {
    const admin = await fixture.user("admin");
    const params = { id: device.workspaceId };
    const give = { principal: admin, params, body: { remote_engines: true } };
    expect(await codeOf(call("editWorkspace", give))).toBe("elevation_required");
    await edit({ remote_engines: true });
    const take = { principal: admin, params, body: { remote_engines: false } };
    expect((await call("editWorkspace", take)).body.remote_engines).toBe(false);
  });

  it("viewers see which one reads, and that the sound leaves", async () => {
    const { body } = await start({});
    const before = await record(body.session_id);
    expect([before.engine, before.sound_leaves]).toEqual([undefined, undefined]);
    const jobId = String(before.transcription_job_id);
    const sessionId = String(body.session_id);
    const story = await SessionStory.open(fixture, sessionId);
    const started = { type: "JobStarted", jobId, attempt: 1 } as const;
    const about = { diarisationModelVersion: "d1", detectedLanguage: "en" };
    await story.tell([
      { type: "SessionStarted", sessionId, jobId, language: "en" },
      { ...started, ...about, engine: "hosted", soundLeaves: true },
    ]);
    expect(await record(sessionId)).toMatchObject({ engine: "hosted", sound_leaves: true });
  });

  it("a redo is read by the engine and in the language that it asks for", async () => {
    const { body } = await start({ language: "en" });
    await completed(body.session_id);
    const params = { session_id: String(body.session_id) };
    const asked = { engine: "house", forced_language: "de" };
    expect((await call("transcribeAgain", { params, body: asked })).status).toBe(202);
    expect(await wishOf(body.session_id)).toMatchObject({ asked: "house", language: "de" });
    await call("transcribeAgain", { params, body: {} });
    const { asked: none, language } = (await wishOf(body.session_id)) ?? {};
    expect([none, language]).toEqual([undefined, "en"]);
  });

  it("a redo that no engine can read is refused with a sentence", async () => {
    const { body } = await start({ language: "en" });
    const jobId = await completed(body.session_id);
    const admin = await fixture.user("admin");
    const redo = (wish: object) =>
      call("redoTranscription", { principal: admin, params: { job_id: jobId }, body: wish });
    expect(await codeOf(redo({ forced_language: "tlh" }))).toBe("language_unsupported");
    expect(await codeOf(redo({ engine: "moonshine-tiny-en", forced_language: "de" }))).toBe(
      "invalid_body",
    );
    expect(await codeOf(redo({ engine: "hosted" }))).toBe("forbidden");
  });
});
