import { beforeAll, describe, expect, it } from "vitest";
import { wavHeader } from "../../src/base/audio/wav.ts";
import { AppFixture } from "../support/app-fixture.ts";
import { CompatCaller } from "../support/compat-caller.ts";
import {
  adminToken,
  call,
  PairedDevice,
  persistently,
  scriptedChunks,
} from "../support/paired-device.ts";
import { until } from "../support/until.ts";
import { Viewer } from "../support/viewer.ts";
import { newOwner } from "../support/workspace-owner.ts";

const REFUSED = [422, "language_unsupported"];
/** The fixture's only engine reads English. */
const READABLE = "Languages that can be read: en.";

interface Warned {
  warnings?: { warning: string; message: string }[];
}

describe("languages", () => {
  let service: AppFixture;
  let token: string;
  let workspaceId: string;

  beforeAll(async () => {
    service = await AppFixture.shared();
    token = await adminToken(service);
    const made = await persistently<{ id: string }>(service, "POST", "/workspaces", {
      token,
      body: { name: "Tokyo", preferred_language: "ja" },
    });
    workspaceId = made.body.id;
    const heard = async () => {
      const { body } = await call<{ items: { name: string }[] }>(service.api, "GET", "/engines", {
        token,
      });
      return body.items.some(({ name }) => name === "scripted");
    };
    await until(heard, "the worker's engines to be known");
  });

  async function refusal(path: string, body: unknown, device?: PairedDevice) {
    const credential = device === undefined ? { token } : { key: device.key };
    const answer = await call<{ message?: string }>(service.api, "POST", path, {
      ...credential,
      body,
    });
    return {
      told: [answer.status, answer.headers.get("x-error-code")],
      message: answer.body.message,
    };
  }

  it("languages: a start that names one which no engine reads is refused, and begins nothing", async () => {
    const device = await PairedDevice.pair(service, { token, workspaceId });
    const path = `/devices/${device.id}/session/start`;
    for (const language of ["de-CH", "auto"]) {
      const byDevice = await refusal(path, { language }, device);
      expect(byDevice.told).toEqual(REFUSED);
      expect(byDevice.message).toContain(READABLE);
      const byPerson = await refusal("/sessions", { workspace_id: workspaceId, language });
      expect(byPerson.told).toEqual(REFUSED);
      expect(byPerson.message).toContain(READABLE);
    }
    const listed = await call<{ items: unknown[] }>(
      service.api,
      "GET",
      `/sessions?workspace_id=${workspaceId}`,
      { token },
    );
    expect(listed.body.items).toEqual([]);
    const taken = await call<Warned>(service.api, "POST", path, {
      key: device.key,
      body: { language: "en-GB" },
    });
    expect(taken.status).toBe(201);
    expect(taken.body.warnings).toBeUndefined();
    await device.stop(-1);
  });

  it("languages: a device's stream that names one gets an error frame", async () => {
    const device = await PairedDevice.pair(service, { token, workspaceId });
    const url = `${service.ready.base_url.replace("http", "ws")}/api/devices/${device.id}/stream`;
    const socket = await new Viewer(url, { "x-api-key": device.key }).opened();
    const format = { encoding: "pcm_s16le", sample_rate: 16_000, channels: 1 };
    socket.send({ type: "Configure", ...format, language: "fr" });
    const error = await socket.received("Error");
    await socket.closed();
    expect(error.code).toBe("language_unsupported");
    expect(error.message).toContain(READABLE);
  });

  it("languages: clients of other services are refused in the form that they know", async () => {
    const caller = await CompatCaller.open(service);
    const key = await caller.key("transcribe");
    const [pcm = Buffer.alloc(0)] = scriptedChunks(5);
    const wav = Buffer.concat([wavHeader(pcm.byteLength / 2), pcm]);
    const deepgram = await fetch(`${service.api}/compat/deepgram/v1/listen?language=de`, {
      method: "POST",
      headers: { authorization: `Token ${key}`, "content-type": "audio/wav" },
      body: wav,
    });
    expect([deepgram.status, deepgram.headers.get("x-error-code")]).toEqual([400, REFUSED[1]]);
    expect(await deepgram.json()).toMatchObject({
      err_code: "INVALID_QUERY_PARAMETER",
      err_msg: expect.stringContaining(READABLE),
    });
    const form = new FormData();
    form.set("file", new File([wav], "talk.wav"));
    form.set("model", "whisper-1");
    form.set("language", "de");
    const openai = await fetch(`${service.api}/compat/openai/v1/audio/transcriptions`, {
      method: "POST",
      headers: { authorization: `Bearer ${key}` },
      body: form,
    });
    expect([openai.status, openai.headers.get("x-error-code")]).toEqual([400, REFUSED[1]]);
    expect(await openai.json()).toMatchObject({
      error: { param: "language", code: "language_unsupported", type: "invalid_request_error" },
    });
  });

  it("languages: a session is read by the engine that its start named", async () => {
    const device = await PairedDevice.pair(service, await newOwner(service, "admin"));
    const started = await call<{ session_id: string }>(
      service.api,
      "POST",
      `/devices/${device.id}/session/start`,
      { key: device.key, body: { language: "en", engine: "scripted" } },
    );
    device.sessionId = started.body.session_id;
    const [pcm = Buffer.alloc(0)] = scriptedChunks(5);
    await device.upload(0, pcm);
    await device.stop(0);
    await device.completed();
    expect((await device.get("")).body).toMatchObject({ engine: "scripted", language: "en" });
    const health = await call<{ checks: Record<string, unknown> }>(service.api, "GET", "/health");
    expect(health.body.checks.engines).toMatchObject({
      status: "ok",
      message: expect.stringContaining("scripted: model script (SHA-256: script "),
    });
  });

  it("languages: an inherited one is recorded with a warning, ends with its reason, and is read by a redo", async () => {
    const device = await PairedDevice.pair(service, { token, workspaceId });
    const started = await call<Warned & { session_id: string }>(
      service.api,
      "POST",
      `/devices/${device.id}/session/start`,
      { key: device.key, body: {} },
    );
    const warning = { warning: "language_unsupported", message: expect.stringContaining(READABLE) };
    expect(started.body.warnings).toEqual([warning]);
    device.sessionId = started.body.session_id;
    const viewer = await new Viewer(service.ready.live_url, {
      authorization: `Bearer ${token}`,
    }).opened();
    viewer.send({ type: "Subscribe", session_id: device.sessionId });
    expect(await viewer.received("Snapshot")).toMatchObject({ session: { warnings: [warning] } });
    const [pcm = Buffer.alloc(0)] = scriptedChunks(5);
    await device.upload(0, pcm);
    expect(await viewer.received("Warning")).toMatchObject({
      code: "language_unsupported",
      message: warning.message,
    });
    const record = await device.get<Warned & { transcription_job_id: string }>("");
    expect(record.body.warnings).toEqual([warning]);
    const job = `/jobs/${record.body.transcription_job_id}`;
    const waiting = await call(service.api, "GET", job, { token });
    expect(waiting.body).toMatchObject({ status: "queued", error: warning.message });

    await device.stop(0);
    await until(
      async () => (await device.get<{ status: string }>("")).body.status === "failed",
      "the session to end",
    );
    const failed = await call(service.api, "GET", job, { token });
    expect(failed.body).toMatchObject({ status: "failed", error: warning.message });
    viewer.socket.close();

    const redo = `/admin/jobs/transcriptions/${record.body.transcription_job_id}/redo`;
    expect((await refusal(redo, { forced_language: "de" })).told).toEqual(REFUSED);
    expect((await refusal(redo, {})).told).toEqual(REFUSED);
    expect((await refusal(redo, { forced_language: "en" })).told[0]).toBe(200);
    await device.completed();
    expect((await device.said()).join(" ")).toContain("launch");
    expect((await device.get<Warned>("")).body.warnings).toBeUndefined();
    const read = await call(service.api, "GET", job, { token });
    expect(read.body).toMatchObject({ status: "completed", error: "" });
  });
});
