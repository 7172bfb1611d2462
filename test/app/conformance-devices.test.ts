import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { newId } from "../../src/base/ids.ts";
import {
  ConformanceFixture,
  type Device,
  expectMembers,
  expectProblem,
  int32,
  type Kind,
  list,
  number,
  text,
  time,
  uuid,
} from "../support/conformance-fixture.ts";
import { makeWav } from "../support/make-wav.ts";
import { PCM, scriptedChunks } from "../support/paired-device.ts";

const yes: Kind = (value) => value === true;
const STORED = {
  success: yes,
  chunk_id: uuid,
  chunk_sequence: int32,
  transcription_status: (value: unknown) =>
    value === "pending" || value === "processing" || value === "completed",
  duration_seconds: number,
};
/** Small enough to pass quickly over it. */
const UPLOAD_LIMIT = 200_000;

/** Every endpoint of devices with every code that it promises. */
describe("conformance: devices and health", () => {
  let fixture: ConformanceFixture;
  let other: Device;
  const [first, second] = scriptedChunks(2) as [Buffer, Buffer];
  beforeAll(async () => {
    fixture = await ConformanceFixture.open({ MAX_UPLOAD_BYTES: String(UPLOAD_LIMIT) });
    other = await fixture.pair();
  });
  afterAll(() => fixture?.close());

  /** Of a route below /devices/{device_id}: 401, 403 and 404 by who calls. */
  async function expectOwnDeviceOnly(step: string): Promise<void> {
    const path = `/devices/${fixture.device.id}${step}`;
    expectProblem(await fixture.send("POST", path), 401, "unauthorized");
    expectProblem(await fixture.send("POST", path, { token: fixture.owner.token }), 401);
    expectProblem(await fixture.send("POST", path, { key: "vk_dev_none" }), 401, "invalid_api_key");
    expectProblem(await fixture.send("POST", path, { key: other.key }), 403, "forbidden");
    for (const id of [newId(), "none", fixture.device.id.toUpperCase()]) {
      const answer = await fixture.send("POST", `/devices/${id}${step}`, { key: other.key });
      expectProblem(answer, 404, "not_found");
    }
  }

  it("POST /devices/{device_id}/heartbeat: 200 400 401 403 404", async () => {
    const path = `/devices/${fixture.device.id}/heartbeat`;
    const { key } = fixture.device;
    const idle = await fixture.done("POST", path, { key });
    expectMembers(idle, { success: yes, server_time: time, commands: list });
    const body = {
      battery_percent: 71.5,
      rssi_dbm: -60,
      buffered_chunks: 0,
      firmware: "1.2",
      fan: 3,
    };
    await fixture.done("POST", path, { key, body });
    const shown = await fixture.done("GET", `/devices/${fixture.device.id}`, {
      token: fixture.owner.token,
    });
    expect(shown).toMatchObject({ presence: "online", status: "paired" });
    expect(JSON.stringify(shown)).toContain('"fan":3');
    for (const wrong of [{ battery_percent: 101 }, { recording: "yes" }, { firmware: null }]) {
      expectProblem(await fixture.send("POST", path, { key, body: wrong }), 400, "invalid_body");
    }
    await expectOwnDeviceOnly("/heartbeat");
  });

  it("session start and stop: 201 and 200, 400 401 403 404 409", async () => {
    const start = `/devices/${fixture.device.id}/session/start`;
    const stop = `/devices/${fixture.device.id}/session/stop`;
    const { key } = fixture.device;
    expectProblem(await fixture.send("POST", stop, { key }), 404, "not_found");
    for (const body of [{ title: 5 }, { language: "not a tag" }, { vocabulary: "Anna" }]) {
      expectProblem(await fixture.send("POST", start, { key, body }), 400, "invalid_body");
    }
    const nowhere = { key, body: { workspace_id: newId() } };
    expectProblem(await fixture.send("POST", start, nowhere), 404, "not_found");
    const body = { title: "Rehearsal", language: "en-GB", vocabulary: ["Nina"], unknown: 1 };
    const started = await fixture.done<{ session_id: string }>("POST", start, { key, body }, 201);
    expectMembers(started, {
      success: yes,
      session_id: uuid,
      started_at: time,
      stream_url: (value) => /^wss?:\/\/.+\/api\/devices\/.+\/stream$/.test(String(value)),
    });
    const twice = await fixture.send<{ message: string }>("POST", start, { key });
    expectProblem(twice, 409, "already_recording");
    expect(twice.body.message).toContain(started.session_id);
    const beat = await fixture.done("POST", `/devices/${fixture.device.id}/heartbeat`, { key });
    expect(beat).toMatchObject({ session_id: started.session_id });
    const foreign = { key, body: { session_id: newId() } };
    expectProblem(await fixture.send("POST", stop, foreign), 404, "not_found");
    const beyond = { key, body: { last_chunk_sequence: 999_999 } };
    expectProblem(await fixture.send("POST", stop, beyond), 409, "conflict");
    for (let again = 0; again < 2; again += 1) {
      const stopped = await fixture.done("POST", stop, { key });
      expectMembers(stopped, {
        success: yes,
        session_id: (value) => value === started.session_id,
        status: (value) => value === "processing" || value === "completed",
      });
    }
    await expectOwnDeviceOnly("/session/start");
    await expectOwnDeviceOnly("/session/stop");
  });

  it("403 for a workspace that the device's owner does not belong to", async () => {
    const { token } = fixture.stranger;
    const made = await fixture.done<{ id: string }>(
      "POST",
      "/workspaces",
      { token, body: { name: "Elsewhere" } },
      201,
    );
    const path = `/devices/${fixture.device.id}/session/start`;
    const answer = await fixture.send("POST", path, {
      key: fixture.device.key,
      body: { workspace_id: made.id },
    });
    expectProblem(answer, 403, "forbidden");
  });

  it("POST /sessions/{session_id}/upload-audio: raw and multipart, 200 and 201", async () => {
    const sessionId = await fixture.start();
    const raw = await fixture.upload(sessionId, 0, first);
    expect(raw.status).toBe(201);
    expectMembers(raw.body, STORED);
    expect(raw.body).toMatchObject({ chunk_sequence: 0, duration_seconds: 2 });
    const form = new FormData();
    form.set("chunk_sequence", "1");
    form.set("started_at", "2026-01-31T09:30:02.000Z");
    const wav = new Uint8Array(makeWav({ frames: 32_000, seed: 5 }));
    form.set("file", new Blob([wav], { type: "audio/wav" }), "second.wav");
    const { key } = fixture.device;
    const path = `/sessions/${sessionId}/upload-audio`;
    const parts = await fixture.done("POST", path, { key, body: form }, 201);
    expectMembers(parts, STORED);
    const again = await fixture.upload(sessionId, 0, first);
    expect(again.status).toBe(200);
    expect(again.body.chunk_id).toBe(raw.body.chunk_id);
    await fixture.stop();
    const late = await fixture.upload(sessionId, 0, first);
    expect([late.status, late.body.chunk_id]).toEqual([200, raw.body.chunk_id]);
    const listing = await fixture.done<{ chunks: object[] }>(
      "GET",
      `/sessions/${sessionId}/chunks`,
      {
        token: fixture.owner.token,
      },
    );
    expect(listing.chunks[1]).toMatchObject({
      filename: "second.wav",
      started_at: "2026-01-31T09:30:02.000Z",
    });
  });

  it("POST /sessions/{session_id}/upload-audio: 400 401 403 404 409 413 415 422", async () => {
    const sessionId = await fixture.start();
    const path = `/sessions/${sessionId}/upload-audio`;
    const { key } = fixture.device;
    const send = (headers: Record<string, string>, bytes: Uint8Array = first) =>
      fixture.send("POST", path, { key, bytes, headers });
    const pcm = { "content-type": PCM };
    expectProblem(await send(pcm), 400, "invalid_body");
    for (const sequence of ["-1", "1.5", "one", ""]) {
      const answer = await send({ ...pcm, "x-chunk-sequence": sequence });
      expectProblem(answer, 400, "invalid_body");
    }
    const bare = await fixture.send("POST", path, { bytes: first, headers: pcm });
    expectProblem(bare, 401, "unauthorized");
    expectProblem(await fixture.upload(sessionId, 0, first, other.key), 403, "forbidden");
    for (const id of [newId(), "none"]) {
      expectProblem(await fixture.upload(id, 0, first), 404, "not_found");
    }
    expect((await fixture.upload(sessionId, 0, first)).status).toBe(201);
    expectProblem(await fixture.upload(sessionId, 0, second), 409, "chunk_conflict");
    expectProblem(
      await fixture.upload(sessionId, 1, Buffer.alloc(UPLOAD_LIMIT + 2)),
      413,
      "payload_too_large",
    );
    const sequence = { "x-chunk-sequence": "1" };
    const video = await send({ ...sequence, "content-type": "video/mp4" });
    expectProblem(video, 415, "unsupported_media_type");
    const words = await send({ ...sequence, "content-type": "audio/wav" }, Buffer.from("words"));
    expectProblem(words, 422, "not_audio");
    await fixture.done("POST", `/devices/${fixture.device.id}/session/stop`, {
      key,
      body: { last_chunk_sequence: 0 },
    });
    expectProblem(await fixture.upload(sessionId, 1, second), 409, "session_ended");
  });

  it("POST /devices/pair/claim-auth: three callers, 400 401 403 404 409", async () => {
    const path = "/devices/pair/claim-auth";
    const shown = await fixture.publish();
    const waiting = await fixture.send("POST", path, { token: shown.pairing_secret });
    expectProblem(waiting, 409, "not_paired");
    const body = { code: shown.code, workspace_id: fixture.workspaceId };
    const { token } = fixture.owner;
    for (const wrong of [{}, { code: shown.code }, { ...body, code: 5 }]) {
      expectProblem(await fixture.send("POST", path, { token, body: wrong }), 400, "invalid_body");
    }
    const strange = await fixture.send("POST", path, { token: fixture.stranger.token, body });
    expectProblem(strange, 403, "forbidden");
    for (const wrong of [
      { ...body, code: "BCDF-BCDF" },
      { ...body, workspace_id: newId() },
    ]) {
      expectProblem(await fixture.send("POST", path, { token, body: wrong }), 404, "not_found");
    }
    const kinds = {
      device_id: (value: unknown) => value === shown.device_id,
      api_key: text,
      expires_at: time,
    };
    const byUser = await fixture.done<{ api_key: string }>("POST", path, { token, body });
    expectMembers(byUser, kinds);
    expectMembers(await fixture.done("POST", path, { key: byUser.api_key }), kinds);
    expectMembers(await fixture.done("POST", path, { token: shown.pairing_secret }), kinds);
    const used = await fixture.send("POST", path, { token, body });
    expectProblem(used, 409, "conflict");
    expectProblem(await fixture.send("POST", path), 401, "unauthorized");
    expectProblem(
      await fixture.send("POST", path, { token: "x".repeat(43) }),
      401,
      "invalid_token",
    );
    await fixture.done("DELETE", `/devices/${shown.device_id}`, { token });
    const unpaired = await fixture.send("POST", path, { token: shown.pairing_secret });
    expectProblem(unpaired, 401, "invalid_token");
    expectProblem(
      await fixture.send("POST", path, { key: byUser.api_key }),
      401,
      "invalid_api_key",
    );
  });

  it("POST /devices/pairing-codes: 201 with a made or own code, 400 409", async () => {
    const path = "/devices/pairing-codes";
    const body = { device_serial: randomUUID(), name: "Desk", model: "M1", firmware: "1.0" };
    const before = Date.now();
    const made = await fixture.done<{ expires_at: string }>("POST", path, { body }, 201);
    expectMembers(made, {
      success: yes,
      device_id: uuid,
      code: (value) => /^[B-DF-HJ-NP-TV-Z]{4}-[B-DF-HJ-NP-TV-Z]{4}$/.test(String(value)),
      pairing_secret: text,
      expires_at: time,
      interval: int32,
    });
    expect(Math.round((Date.parse(made.expires_at) - before) / 60_000)).toBe(10);
    const own = { device_serial: randomUUID(), code: "K7M2-QX4W" };
    const kept = await fixture.done<{ code: string }>("POST", path, { body: own }, 201);
    expect(kept.code.replaceAll("-", "")).toBe("K7M2QX4W");
    const twice = { ...own, device_serial: randomUUID() };
    expectProblem(await fixture.send("POST", path, { body: twice }), 409, "code_in_use");
    for (const wrong of [{}, { device_serial: 5 }, { ...own, code: "?" }, { ...own, name: null }]) {
      expectProblem(await fixture.send("POST", path, { body: wrong }), 400, "invalid_body");
    }
  });

  it("GET /devices/pair/status: pending, paired and revoked, 400 404", async () => {
    const path = "/devices/pair/status";
    const shown = await fixture.publish();
    const standing = async (query: string) => {
      const body = await fixture.done<{ status: string }>("GET", `${path}?${query}`);
      expectMembers(body, { status: text, interval: int32 });
      return body.status;
    };
    const byId = `device_id=${shown.device_id}`;
    const byCode = `code=${shown.code}`;
    expect([await standing(byId), await standing(byCode)]).toEqual(["pending", "pending"]);
    const { token } = fixture.owner;
    const body = { code: shown.code, workspace_id: fixture.workspaceId };
    await fixture.done("POST", "/devices/pair", { token, body });
    expect(await standing(byId)).toBe("paired");
    await fixture.done("DELETE", `/devices/${shown.device_id}`, { token });
    expect(await standing(byId)).toBe("revoked");
    expectProblem(await fixture.send("GET", path), 400, "invalid_parameter");
    expectProblem(await fixture.send("GET", `${path}?${byId}&${byCode}`), 400, "invalid_parameter");
    for (const query of [`device_id=${newId()}`, "device_id=none", "code=BCDF-BCDF"]) {
      expectProblem(await fixture.send("GET", `${path}?${query}`), 404, "not_found");
    }
  });

  it("POST /devices/pair: 200 400 401 403 404 409", async () => {
    const path = "/devices/pair";
    const shown = await fixture.publish();
    const body = { code: shown.code, workspace_id: fixture.workspaceId, name: "Desk" };
    const { token } = fixture.owner;
    for (const wrong of [{}, { code: shown.code }, { ...body, workspace_id: 4 }]) {
      expectProblem(await fixture.send("POST", path, { token, body: wrong }), 400, "invalid_body");
    }
    expectProblem(await fixture.send("POST", path, { body }), 401, "unauthorized");
    const strange = await fixture.send("POST", path, { token: fixture.stranger.token, body });
    expectProblem(strange, 403, "forbidden");
    for (const wrong of [
      { ...body, code: "BCDF-BCDF" },
      { ...body, workspace_id: newId() },
    ]) {
      expectProblem(await fixture.send("POST", path, { token, body: wrong }), 404, "not_found");
    }
    const device = await fixture.done("POST", path, { token, body });
    expect(device).toMatchObject({ id: shown.device_id, name: "Desk", status: "paired" });
    expectProblem(await fixture.send("POST", path, { token, body }), 409, "conflict");
  });

  it("GET /health: 200 with version, uptime and checks", async () => {
    const health = await fixture.done<{ checks: object }>("GET", "/health");
    expectMembers(health, {
      status: (value) => value === "ok" || value === "degraded",
      version: text,
      uptime_seconds: number,
      checks: (value) => typeof value === "object" && value !== null,
    });
    for (const check of Object.values(health.checks)) {
      expectMembers(check, { status: text }, { message: text });
    }
  });
});
