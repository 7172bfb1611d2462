import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { AttackedService, type Headers, type Person } from "../../support/attacked-service.ts";
import { PCM } from "../../support/paired-device.ts";
import { until } from "../../support/until.ts";
import { Viewer } from "../../support/viewer.ts";

/** Half a second. */
const AUDIO = Buffer.alloc(16_000, 1);

describe("a device whose right has ended", () => {
  let service: AttackedService;
  let admin: Person;
  let founder: Person;
  let leaver: Person;
  let workspaceId: string;
  let deviceId: string;
  let key: Headers;

  beforeAll(async () => {
    service = await AttackedService.open();
    admin = await service.addUser("admin");
  });
  afterAll(() => service?.close());

  beforeEach(async () => {
    founder = await service.addUser();
    leaver = await service.addUser();
    workspaceId = await service.addWorkspace(founder.id);
    await service.join(workspaceId, leaver.id, "member");
    const made = await service.done("POST", "/devices", leaver.headers, {
      workspace_id: workspaceId,
    });
    deviceId = String(made.device_id);
    key = { "x-api-key": String(made.api_key) };
  });

  const start = (headers = key, body?: object) =>
    service.call("POST", `/devices/${deviceId}/session/start`, headers, body);
  const stop = (sessionId: string, headers = key) =>
    service.call("POST", `/devices/${deviceId}/session/stop`, headers, { session_id: sessionId });
  const beat = (headers = key) =>
    service.call("POST", `/devices/${deviceId}/heartbeat`, headers, {});
  const renew = (headers = key) => service.call("POST", "/devices/pair/claim-auth", headers);
  const upload = (sessionId: string, sequence: number, headers = key) =>
    service.call(
      "POST",
      `/sessions/${sessionId}/upload-audio`,
      { ...headers, "content-type": PCM, "x-chunk-sequence": String(sequence) },
      AUDIO,
    );

  async function begun(): Promise<string> {
    const started = await start();
    expect(started.status).toBe(201);
    return String(started.body.session_id);
  }

  const leave = () =>
    service.done("DELETE", `/workspaces/${workspaceId}/members/${leaver.id}`, founder.headers);

  /** What ends the right, and how the device is refused afterwards. */
  const ends: Record<string, { end: () => Promise<unknown>; refusal: [number, string] }> = {
    "its owner removed from the workspace": { end: leave, refusal: [403, "key_suspended"] },
    "its owner disabled": {
      end: () => service.done("POST", `/users/${leaver.id}/disable`, admin.headers),
      refusal: [403, "key_suspended"],
    },
    "the device unpaired": {
      end: () => service.done("DELETE", `/devices/${deviceId}`, leaver.headers),
      refusal: [401, "invalid_api_key"],
    },
    "its key expired": {
      end: () =>
        service.sql("update device_keys set expires_at = now() where device_id = $1", [deviceId]),
      refusal: [401, "invalid_api_key"],
    },
    "its key revoked": {
      end: () =>
        service.sql("update device_keys set revoked_at = now() where device_id = $1", [deviceId]),
      refusal: [401, "invalid_api_key"],
    },
  };
  const cases = Object.keys(ends);

  async function ended(which: string): Promise<[number, string]> {
    const found = ends[which];
    if (found === undefined) throw new Error(which);
    await found.end();
    await until(async () => (await beat()).status >= 400, "the device to be refused");
    return found.refusal;
  }

  it.each(cases)("%s: it begins nothing, renews nothing, tells nothing", async (which) => {
    const refusal = await ended(which);
    for (const ask of [start, beat, renew]) {
      const refused = await ask();
      expect([refused.status, refused.code]).toEqual(refusal);
    }
    const ticket = await service.call("POST", "/auth/live-ticket", key);
    expect([ticket.status, ticket.code]).toEqual(refusal);
    const url = service.liveUrl.replace(/live$/, `devices/${deviceId}/stream`);
    const socket = new Viewer(url, { ...key });
    await until(() => socket.refused !== undefined, "the upgrade to be refused");
    expect(socket.refused?.status).toBe(refusal[0]);
    const rows = await service.sql("select from sessions where device_id = $1", [deviceId]);
    expect(rows).toEqual([]);
  });

  it.each(cases)("%s: what it had begun is taken, and it may stop it", async (which) => {
    const sessionId = await begun();
    expect((await upload(sessionId, 0)).status).toBe(201);
    await ended(which);
    expect((await upload(sessionId, 1)).status).toBe(201);
    const again = await upload(sessionId, 1);
    expect(again.status).toBe(200);
    expect((await stop(sessionId)).status).toBe(200);
    expect((await upload(sessionId, 0)).status).toBe(200);
    const chunks = await service.sql("select from chunks where session_id = $1", [sessionId]);
    expect(chunks).toHaveLength(2);
  });

  it.each(cases)("%s: a day later it may do nothing any more", async (which) => {
    const sessionId = await begun();
    await ended(which);
    const day = "interval '24 hours'";
    await service.sql(
      `update device_keys set revoked_at = revoked_at - ${day}, expires_at =
         case when expires_at <= now() then expires_at - ${day} else expires_at end
       where device_id = $1`,
      [deviceId],
    );
    await service.sql(`update users set disabled_at = disabled_at - ${day} where id = $1`, [
      leaver.id,
    ]);
    await service.sql(
      `update workspace_departures set left_at = left_at - ${day} where user_id = $1`,
      [leaver.id],
    );
    await until(async () => (await upload(sessionId, 1)).status >= 400, "the end of the backlog");
    expect((await stop(sessionId)).status).toBeGreaterThan(400);
  });

  it("nothing of the backlog's right is a right to what began afterwards", async () => {
    const sessionId = await begun();
    await service.done("POST", `/devices/${deviceId}/session/stop`, key, {});
    const renewed = await renew();
    expect(renewed.status).toBe(200);
    await service.sql(
      "update device_keys set revoked_at = now() where key_hash = sha256(convert_to($1, 'UTF8'))",
      [key["x-api-key"]],
    );
    await until(async () => (await beat()).status === 401, "the old key to be refused");
    const fresh = { "x-api-key": String(renewed.body.api_key) };
    const later = String((await start(fresh)).body.session_id);
    expect((await upload(later, 0)).status).toBe(403);
    expect((await stop(later)).status).toBe(404);
    // The newest session is not the one that it may stop.
    const newest = await service.call("POST", `/devices/${deviceId}/session/stop`, key, {});
    expect(newest.body.session_id).toBe(sessionId);
    expect((await upload(later, 0, fresh)).status).toBe(201);
  });

  it("an open stream closes with 4401, and the device uploads the rest", async () => {
    const sessionId = await begun();
    const url = service.liveUrl.replace(/live$/, `devices/${deviceId}/stream`);
    const socket = await new Viewer(url, { ...key }).opened();
    const encoding = { encoding: "pcm_s16le", sample_rate: 16_000, channels: 1 };
    socket.send({ type: "Configure", session_id: sessionId, ...encoding });
    await socket.received("Begin");
    for (let sent = 0; sent < 3; sent++) socket.socket.send(AUDIO);
    await socket.received("AudioAck");
    for (let sent = 0; sent < 3; sent++) socket.socket.send(AUDIO);
    await leave();
    await until(() => socket.closeCode !== undefined, "the stream to close");
    expect(socket.closeCode).toBe(4401);
    const refusal = socket.frames.find(({ type }) => type === "Error");
    expect(refusal).toMatchObject({ code: "key_suspended" });
    // What it is told last is exact: that much is stored, and the rest goes behind it.
    const last = socket.frames.at(-1);
    expect(last).toMatchObject({ type: "AudioAck", chunk_sequence: 1 });
    const chunks = () =>
      service.sql("select bytes::int from chunks where session_id = $1 order by sequence", [
        sessionId,
      ]);
    await until(async () => (await chunks()).length === 1, "the chunk of what was streamed");
    expect((await chunks())[0]?.bytes).toBe(last?.audio_offset_bytes);
    expect((await upload(sessionId, 0)).status).toBe(409);
    expect((await upload(sessionId, 1)).status).toBe(201);
    expect((await stop(sessionId)).status).toBe(200);
  });

  it("who returns has the device back, and lists tell of it meanwhile", async () => {
    await leave();
    await until(async () => (await beat()).status === 403, "the device to be refused");
    const path = `/devices?workspace_id=${workspaceId}`;
    const { items } = await service.done("GET", path, founder.headers);
    expect(items).toMatchObject([{ id: deviceId, suspended: true, status: "paired" }]);
    await service.join(workspaceId, leaver.id, "member");
    await until(async () => (await beat()).status === 200, "the device to be back");
    await begun();
  });

  it("a person who left begins nothing with their device there either", async () => {
    const own = await service.addWorkspace(leaver.id);
    await leave();
    const asked = { workspace_id: own, device_id: deviceId };
    const refused = await service.call("POST", "/sessions", leaver.headers, asked);
    expect([refused.status, refused.code]).toEqual([403, "key_suspended"]);
  });

  it("an administrator who is one no more, and never was a member", async () => {
    const other = await service.addUser("admin");
    const made = await service.done("POST", "/devices", other.headers, {
      workspace_id: workspaceId,
    });
    deviceId = String(made.device_id);
    key = { "x-api-key": String(made.api_key) };
    const sessionId = await begun();
    await service.done("PATCH", `/users/${other.id}`, admin.headers, { role: "participant" });
    await until(async () => (await beat()).status === 403, "the device to be refused");
    expect((await upload(sessionId, 0)).status).toBe(201);
    expect((await start()).code).toBe("key_suspended");
  });

  it("nobody's backlog comes into a session that was deleted", async () => {
    const sessionId = await begun();
    await leave();
    await until(async () => (await beat()).status === 403, "the device to be refused");
    await service.done("DELETE", `/sessions/${sessionId}`, leaver.headers);
    expect((await upload(sessionId, 0)).status).toBe(404);
  });
});
