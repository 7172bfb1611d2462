import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { adminToken, call, cut, PCM } from "../support/paired-device.ts";
import { until } from "../support/until.ts";
import { WholeService } from "../support/whole-service.ts";

const PASSWORD = "a horse that staples correctly";
const CHUNK_SECONDS = 5;

describe("the backlog of a device whose owner was removed while it recorded", () => {
  let service: WholeService;
  let admin: string;

  beforeAll(async () => {
    service = await WholeService.start();
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

  async function person(): Promise<{ id: string; token: string }> {
    const email = `${randomUUID()}@example.org`;
    const account = { email, password: PASSWORD, name: "P", role: "participant" };
    const made = await done("POST", "/users", { token: admin, body: account });
    const signedIn = await done("POST", "/auth/login", { body: { email, password: PASSWORD } });
    return { id: String(made.id), token: String(signedIn.token) };
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
    const parts = cut(CHUNK_SECONDS);
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

  async function invitations(token: string): Promise<{ id: string }[]> {
    return (await done<{ items: { id: string }[] }>("GET", "/invitations", { token })).items;
  }
});
