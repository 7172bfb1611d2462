import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { AttackedService, type Headers, type Person } from "../support/attacked-service.ts";
import { PCM } from "../support/paired-device.ts";

const CEILINGS = {
  MAX_DEVICES_PER_WORKSPACE: "7",
  MAX_KEYS_PER_WORKSPACE: "8",
  MAX_WEBHOOKS_PER_WORKSPACE: "9",
  MAX_RECORDINGS_PER_WORKSPACE: "10",
  MAX_STORED_BYTES_PER_WORKSPACE: "0",
  WEBHOOK_ALLOW_PRIVATE: "1",
};
const NONE = {
  devices: { used: 0, most: 7 },
  api_keys: { used: 0, most: 8 },
  webhooks: { used: 0, most: 9 },
  recordings: { used: 0, most: 10 },
  stored_bytes: { used: 0 },
};

describe("what a workspace uses", () => {
  let service: AttackedService;
  let owner: Person;
  let id: string;

  beforeAll(async () => {
    service = await AttackedService.open(CEILINGS);
    owner = await service.addUser();
    id = await service.addWorkspace(owner.id);
  });
  afterAll(() => service?.close());

  const read = (headers: Headers) => service.call("GET", `/workspaces/${id}`, headers);
  const usage = async () => (await read(owner.headers)).body.usage;

  it("usage: what there is and may be of each, and what ends is taken off", async () => {
    expect(await usage()).toEqual(NONE);
    const { headers } = owner;
    const place = { workspace_id: id };
    const device = await service.done("POST", "/devices", headers, place);
    const made = { ...place, name: "K", scopes: ["sessions:read"] };
    const key = await service.done("POST", "/api-keys", headers, made);
    const hooks = `/workspaces/${id}/webhooks`;
    const hook = await service.done("POST", hooks, headers, { url: "http://127.0.0.1:9/" });
    const begin = { ...place, device_id: device.device_id };
    const session = await service.done("POST", "/sessions", headers, begin);
    const uploaded = await service.call(
      "POST",
      `/sessions/${session.id}/upload-audio`,
      { "x-api-key": String(device.api_key), "content-type": PCM, "x-chunk-sequence": "0" },
      Buffer.alloc(3_200, 1),
    );
    expect(uploaded.status).toBe(201);
    expect(await usage()).toEqual({
      devices: { used: 1, most: 7 },
      api_keys: { used: 1, most: 8 },
      webhooks: { used: 1, most: 9 },
      recordings: { used: 1, most: 10 },
      stored_bytes: { used: 3_200 },
    });
    await service.done("POST", `/sessions/${session.id}/stop`, headers);
    await service.done("DELETE", `/sessions/${session.id}`, headers);
    await service.done("DELETE", `/devices/${device.device_id}`, headers);
    await service.done("DELETE", `/api-keys/${key.id}`, headers);
    await service.done("DELETE", `${hooks}/${hook.id}`, headers);
    expect(await usage()).toEqual(NONE);
  });

  it("usage: is shown to owners and administrators, and to nobody else", async () => {
    const [member, admin, stranger] = [
      await service.addUser(),
      await service.addUser("admin"),
      await service.addUser(),
    ];
    await service.join(id, member.id, "member");
    const scopes = ["sessions:read"];
    const made = { workspace_id: id, name: "K", scopes };
    const { key } = await service.done("POST", "/api-keys", owner.headers, made);
    expect((await read(admin.headers)).body).toHaveProperty("usage");
    for (const headers of [member.headers, { "x-api-key": String(key) }]) {
      const shown = await read(headers);
      expect(shown.body).toMatchObject({ id, name: "W" });
      expect(shown.body).not.toHaveProperty("usage");
    }
    expect((await read(stranger.headers)).status).toBe(403);
    const listed = await service.call("GET", "/workspaces", owner.headers);
    expect(listed.text).not.toContain("usage");
  });

  it("usage: what changes in it makes a reader's copy stale, but no edit", async () => {
    const url = `${service.api}/workspaces/${id}`;
    const { headers } = owner;
    const first = await fetch(url, { headers });
    const tag = String(first.headers.get("etag"));
    const same = await fetch(url, { headers: { ...headers, "if-none-match": tag } });
    expect(same.status).toBe(304);
    await service.done("POST", "/devices", headers, { workspace_id: id });
    const other = await fetch(url, { headers: { ...headers, "if-none-match": tag } });
    expect(other.status).toBe(200);
    const edit = await fetch(url, {
      method: "PATCH",
      headers: { ...headers, "if-match": tag, "content-type": "application/json" },
      body: JSON.stringify({ name: "Renamed" }),
    });
    expect(edit.status).toBe(200);
    // The answer is what the next reader gets.
    const now = await fetch(url, { headers });
    expect(await edit.json()).toEqual(await now.json());
    expect(edit.headers.get("etag")).toBe(now.headers.get("etag"));
  });
});
