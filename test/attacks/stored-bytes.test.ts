import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { AttackedService, type Headers } from "../support/attacked-service.ts";
import { PCM } from "../support/paired-device.ts";
import { until } from "../support/until.ts";
import { Viewer } from "../support/viewer.ts";

const MOST = 100_000;
/** Two of them are more than there may be. */
const PART = Buffer.alloc(60_000, 1);

interface Recorder {
  id: string;
  headers: Headers;
  deviceId: string;
  workspace: string;
  key: Headers;
}

describe("a workspace that stores all it can", () => {
  let house: AttackedService;

  beforeAll(async () => {
    house = await AttackedService.open({ MAX_STORED_BYTES_PER_WORKSPACE: String(MOST) });
  });
  afterAll(() => house?.close());

  async function pair(headers: Headers, workspace: string) {
    const made = await house.done("POST", "/devices", headers, { workspace_id: workspace });
    return { deviceId: String(made.device_id), key: { "x-api-key": String(made.api_key) } };
  }

  async function tenant(): Promise<Recorder> {
    const { id, headers } = await house.addUser();
    const workspace = await house.addWorkspace(id);
    return { id, headers, workspace, ...(await pair(headers, workspace)) };
  }

  const start = ({ deviceId, key }: Pick<Recorder, "deviceId" | "key">) =>
    house.call("POST", `/devices/${deviceId}/session/start`, key, {});
  const stop = ({ deviceId, key }: Pick<Recorder, "deviceId" | "key">) =>
    house.done("POST", `/devices/${deviceId}/session/stop`, key, {});
  const upload = (sessionId: string, sequence: number, key: Headers) =>
    house.call(
      "POST",
      `/sessions/${sessionId}/upload-audio`,
      { ...key, "content-type": PCM, "x-chunk-sequence": String(sequence) },
      Buffer.concat([PART, Buffer.from([sequence, 0])]),
    );

  async function begun(recorder: Pick<Recorder, "deviceId" | "key">): Promise<string> {
    const started = await start(recorder);
    expect([started.status, started.text]).toEqual([201, expect.any(String)]);
    return String(started.body.session_id);
  }

  /** Opens the device's stream without a session of its own; the code that it is refused with. */
  async function stream({ deviceId, key }: Pick<Recorder, "deviceId" | "key">) {
    const url = house.liveUrl.replace(/live$/, `devices/${deviceId}/stream`);
    const socket = await new Viewer(url, { ...key }).opened();
    socket.send({ type: "Configure", encoding: "pcm_s16le", sample_rate: 16_000, channels: 1 });
    return socket;
  }

  it("stored bytes: what records goes on, and nothing begins after it, by any way", async () => {
    const hog = await tenant();
    const sessionId = await begun(hog);
    for (const sequence of [0, 1, 2]) {
      expect((await upload(sessionId, sequence, hog.key)).status).toBe(201);
    }
    const again = await start(hog);
    expect([again.status, again.code]).toEqual([409, "already_recording"]);
    await stop(hog);
    const refused = await start(hog);
    expect([refused.status, refused.code]).toEqual([403, "quota_exceeded"]);
    expect(refused.text).toContain(`at most ${MOST} bytes`);
    expect(refused.text).toContain(`has ${3 * (PART.length + 2)}`);
    const own = { workspace_id: hog.workspace };
    const made = await house.call("POST", "/sessions", hog.headers, own);
    expect([made.status, made.code]).toEqual([403, "quota_exceeded"]);
    const socket = await stream(hog);
    expect(await socket.received("Error")).toMatchObject({ code: "quota_exceeded" });
    expect(socket.problems).toEqual([]);
    socket.socket.close();
    const other = await pair(hog.headers, hog.workspace);
    expect((await start(other)).code).toBe("quota_exceeded");
    const sessions = await house.sql("select from sessions where owner_id = $1", [hog.id]);
    expect(sessions).toHaveLength(1);
  });

  it("stored bytes: what is being streamed counts before it is a chunk", async () => {
    const hog = await tenant();
    const socket = await stream(hog);
    await socket.received("Begin");
    for (let at = 0; at < MOST; at += 20_000) socket.socket.send(Buffer.alloc(20_000, 1));
    await until(
      () => socket.frames.some((frame) => Number(frame.audio_offset_bytes) >= MOST),
      "the audio to be stored",
    );
    const other = await pair(hog.headers, hog.workspace);
    expect((await start(other)).code).toBe("quota_exceeded");
    // The stream goes on.
    socket.socket.send(Buffer.alloc(20_000, 1));
    await until(
      () => socket.frames.some((frame) => Number(frame.audio_offset_bytes) >= MOST + 20_000),
      "more of it to be stored",
    );
    socket.socket.close();
  });

  it("stored bytes: other tenants record on, and begin", async () => {
    const [hog, neighbour] = [await tenant(), await tenant()];
    const theirs = await begun(neighbour);
    const sessionId = await begun(hog);
    await upload(sessionId, 0, hog.key);
    await upload(sessionId, 1, hog.key);
    await stop(hog);
    expect((await start(hog)).code).toBe("quota_exceeded");
    expect((await upload(theirs, 0, neighbour.key)).status).toBe(201);
    await stop(neighbour);
    await begun(neighbour);
    // Nor does it keep its own people from another workspace.
    const elsewhere = await house.addWorkspace(hog.id);
    await begun(await pair(hog.headers, elsewhere));
  });

  it("stored bytes: late audio of a stopped session is taken, and a deletion makes room", async () => {
    const hog = await tenant();
    const sessionId = await begun(hog);
    await upload(sessionId, 0, hog.key);
    await upload(sessionId, 2, hog.key);
    await stop(hog);
    expect((await upload(sessionId, 1, hog.key)).status).toBe(201);
    expect((await start(hog)).code).toBe("quota_exceeded");
    await house.done("DELETE", `/sessions/${sessionId}`, hog.headers);
    await begun(hog);
  });

  it("stored bytes: they are what was stored, not how often it was sent", async () => {
    const { key, ...rest } = await tenant();
    const sessionId = await begun({ key, ...rest });
    const answers = await Promise.all(Array.from({ length: 8 }, () => upload(sessionId, 0, key)));
    expect(answers.every(({ status }) => status === 200 || status === 201)).toBe(true);
    await stop({ key, ...rest });
    await begun({ key, ...rest });
  });
});
