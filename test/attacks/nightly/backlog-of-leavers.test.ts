import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { UserSession } from "../../../src/cli/client/user-session.ts";
import { DeviceShelf } from "../../../src/cli/device/device-shelf.ts";
import { simulateDevice } from "../../../src/cli/device/simulate-device.ts";
import { parseWave } from "../../../src/cli/device/wave-file.ts";
import { ApiClient } from "../../../src/client/api-client.ts";
import { AppFixture } from "../../support/app-fixture.ts";
import { conversationWav } from "../../support/compat-caller.ts";
import { adminToken, call, PCM, scriptedChunks } from "../../support/paired-device.ts";
import { scriptedPcm } from "../../support/spoken-script.ts";
import { until } from "../../support/until.ts";

const PASSWORD = "a horse that staples correctly";
const CHUNK_SECONDS = 5;

describe("the backlog of a device whose owner was removed while it recorded", () => {
  let service: AppFixture;
  let admin: string;

  beforeAll(async () => {
    service = await AppFixture.start();
    admin = await adminToken(service);
  });
  afterAll(() => service?.stop());

  async function done<T = Record<string, string>>(
    method: string,
    path: string,
    options: Parameters<typeof call>[3],
  ): Promise<T> {
    const answer = await call<T>(service.api, method, path, options);
    if (answer.status < 300) return answer.body;
    throw new Error(`${method} ${path}: ${answer.status} ${JSON.stringify(answer.body)}`);
  }

  interface Account {
    id: string;
    token: string;
    signIn: { email: string; password: string };
  }

  async function person(): Promise<Account> {
    const email = `${randomUUID()}@example.org`;
    const account = { email, password: PASSWORD, name: "P", role: "participant" };
    const made = await done("POST", "/users", { token: admin, body: account });
    const signIn = { email, password: PASSWORD };
    const signedIn = await done("POST", "/auth/login", { body: signIn });
    return { id: String(made.id), token: String(signedIn.token), signIn };
  }

  it("its words are in the transcript, the last as well as the first", async () => {
    const [founder, leaver] = [await person(), await person()];
    const made = await done("POST", "/workspaces", {
      token: leaver.token,
      body: { name: "W" },
    });
    const workspace = `/workspaces/${made.id}`;
    // They share the workspace of the one, so that the other may be added to it by their id.
    await done("POST", `${workspace}/members`, {
      token: leaver.token,
      body: { user_id: founder.id, role: "owner" },
    });
    for (const { id } of await invitations(founder.token)) {
      await done("POST", `/invitations/${id}/accept`, { token: founder.token });
    }
    const device = await done("POST", "/devices", {
      token: leaver.token,
      body: { workspace_id: made.id },
    });
    const key = String(device.api_key);
    const started = await done("POST", `/devices/${device.device_id}/session/start`, { key });
    const sessionId = String(started.session_id);
    const parts = scriptedChunks(CHUNK_SECONDS);
    const upload = (sequence: number) =>
      done("POST", `/sessions/${sessionId}/upload-audio`, {
        key,
        bytes: parts[sequence] ?? Buffer.alloc(0),
        headers: { "content-type": PCM, "x-chunk-sequence": String(sequence) },
      });
    await upload(0);
    await done("DELETE", `${workspace}/members/${leaver.id}`, { token: founder.token });
    const beat = () =>
      call(service.api, "POST", `/devices/${device.device_id}/heartbeat`, { key, body: {} });
    await until(async () => (await beat()).status === 403, "the device to be refused");
    for (const sequence of parts.keys()) await upload(sequence);
    const last = { last_chunk_sequence: parts.length - 1 };
    await done("POST", `/devices/${device.device_id}/session/stop`, { key, body: last });
    const path = `/sessions/${sessionId}`;
    const status = async () => (await done("GET", path, { token: leaver.token })).status;
    await until(async () => (await status()) === "completed", "the session to complete", 180_000);
    const { items } = await done<{ items: { text: string; end_ms: number }[] }>(
      "GET",
      `${path}/segments?limit=100`,
      { token: leaver.token },
    );
    const told = items.map(({ text }) => text).join(" ");
    expect(told.split(/\s+/).length).toBeGreaterThan(100);
    const lastChunkAt = (parts.length - 2) * CHUNK_SECONDS * 1_000;
    expect(items.some(({ end_ms }) => end_ms > lastChunkAt)).toBe(true);
  });

  it("streaming software of somebody who is disabled brings what it has, and its words come", async () => {
    const leaver = await person();
    await done("POST", "/workspaces", { token: leaver.token, body: { name: "W" } });
    const user = new UserSession(
      new ApiClient(service.api),
      { email: "", token: leaver.token },
      () => undefined,
    );
    const shelf = new DeviceShelf({ XDG_CONFIG_HOME: service.folder });
    const recording = parseWave(conversationWav(1_000, scriptedPcm()));
    if (recording === undefined) throw new Error("The recording is no WAV file.");
    const told: { sessionId?: string; seconds: number; reason?: string } = { seconds: 0 };
    let disabling: Promise<unknown> | undefined;
    const streaming = simulateDevice(
      { user, shelf },
      [recording],
      {
        files: ["conversation.wav"],
        codec: "pcm",
        chunkSeconds: 1,
        speed: 3,
        loss: 0,
        stream: true,
      },
      {
        signal: new AbortController().signal,
        onStarted: ({ id }) => {
          told.sessionId = id;
        },
        onProgress: ({ seconds }) => {
          told.seconds = seconds;
          if (seconds < 12) return;
          disabling ??= done("POST", `/users/${leaver.id}/disable`, { token: admin });
        },
        onAccessEnded: (reason) => {
          told.reason = reason;
        },
      },
    );
    await expect(streaming).rejects.toThrow(/^Your access ended during the recording\. What was/);
    await disabling;
    expect(told.reason).toMatch(/^This device's owner no longer belongs to its workspace/);
    const seconds = scriptedPcm().length / 32_000;
    expect(told.seconds).toBeGreaterThan(12);
    expect(told.seconds).toBeLessThan(seconds - 1);

    await done("POST", `/users/${leaver.id}/enable`, { token: admin });
    const signedIn = await done("POST", "/auth/login", { body: leaver.signIn });
    const token = String(signedIn.token);
    const path = `/sessions/${told.sessionId}`;
    const status = async () => (await done("GET", path, { token })).status;
    await until(async () => (await status()) === "completed", "the session to complete", 180_000);
    // Not one sample is missing or doubled.
    const answer = await fetch(`${service.api}${path}/audio`, {
      headers: { authorization: `Bearer ${token}` },
    });
    const audio = Buffer.from(await answer.arrayBuffer()).subarray(44);
    expect(audio.length).toBe(Math.round(told.seconds * 32_000));
    expect(audio.equals(scriptedPcm().subarray(0, audio.length))).toBe(true);
    const { items } = await done<{ items: { text: string }[] }>(
      "GET",
      `${path}/segments?limit=100`,
      { token },
    );
    const words = items.flatMap(({ text }) => text.split(/\s+/));
    // Some three words a second.
    expect(words.length).toBeGreaterThan(told.seconds);
  });

  async function invitations(token: string): Promise<{ id: string }[]> {
    return (await done<{ items: { id: string }[] }>("GET", "/invitations", { token })).items;
  }
});
