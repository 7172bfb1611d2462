import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { AttackedService } from "../../support/attacked-service.ts";

const MOST = 3;
const AT_ONCE = 12;

let house: AttackedService;

beforeAll(async () => {
  house = await AttackedService.open({
    MAX_WORKSPACES_PER_USER: String(MOST),
    MAX_DEVICES_PER_USER: String(MOST),
    MAX_DEVICES_PER_WORKSPACE: String(MOST + 1),
    MAX_WEBHOOKS_PER_WORKSPACE: String(MOST),
    WEBHOOK_ALLOW_PRIVATE: "1",
    MAX_KEYS_PER_WORKSPACE: String(MOST),
    MAX_RECORDINGS_PER_USER: String(MOST),
    MAX_RECORDINGS_PER_WORKSPACE: String(MOST + 1),
  });
});

afterAll(() => house.close());

type Headers = Readonly<Record<string, string>>;

/** Asks many times at once; how many came through, and what the others were told. */
async function grab(headers: Headers, path: string, body: object) {
  const answers = await Promise.all(
    Array.from({ length: AT_ONCE }, () => house.call("POST", path, headers, body)),
  );
  const refused = answers.filter(({ status }) => status !== 201);
  return {
    taken: answers.length - refused.length,
    told: new Set(refused.map(({ status, code }) => `${status} ${code}`)),
    message: refused[0]?.text ?? "",
    bodies: answers.filter(({ status }) => status === 201).map(({ body: made }) => made),
  };
}

async function tenant() {
  const user = await house.addUser();
  return { ...user, workspace: await house.addWorkspace(user.id) };
}

describe("ceilings", () => {
  it("ceilings: one user does not own more workspaces, asking for all at once", async () => {
    const { headers } = await tenant();
    const { taken, told, message } = await grab(headers, "/workspaces", { name: "W" });
    // One was there.
    expect(taken).toBe(MOST - 1);
    expect([...told]).toEqual(["403 quota_exceeded"]);
    expect(message).toContain(`at most ${MOST} workspaces`);
  });

  it("ceilings: nobody makes more workspaces by handing them to somebody else", async () => {
    const { id, headers, workspace } = await tenant();
    const friend = await house.addUser();
    const made = await grab(headers, "/workspaces", { name: "W" });
    for (const place of [workspace, ...made.bodies.map(({ id: other }) => String(other))]) {
      await house.join(place, friend.id, "member");
      const member = `/workspaces/${place}/members`;
      await house.done("PATCH", `${member}/${friend.id}`, headers, { role: "owner" });
      await house.done("DELETE", `${member}/${id}`, headers);
    }
    expect((await grab(headers, "/workspaces", { name: "W" })).taken).toBe(0);
    // Nor does it take a place from whom they were handed to.
    expect((await grab(friend.headers, "/workspaces", { name: "W" })).taken).toBe(MOST);
  });

  it("ceilings: a workspace that was deleted makes room", async () => {
    const { headers, workspace } = await tenant();
    await grab(headers, "/workspaces", { name: "W" });
    await house.done("DELETE", `/workspaces/${workspace}`, headers);
    expect((await grab(headers, "/workspaces", { name: "W" })).taken).toBe(1);
  });

  it("ceilings: nor more devices, and one that is unpaired makes room", async () => {
    const { headers, workspace } = await tenant();
    const body = { workspace_id: workspace };
    const { taken, told, bodies } = await grab(headers, "/devices", body);
    expect(taken).toBe(MOST);
    expect([...told]).toEqual(["403 quota_exceeded"]);
    const gone = await house.call("DELETE", `/devices/${bodies[0]?.device_id}`, headers);
    expect(gone.status).toBe(200);
    expect((await grab(headers, "/devices", body)).taken).toBe(1);
  });

  it("ceilings: the members of a workspace share what may be paired with it", async () => {
    const one = await tenant();
    const other = await house.addUser();
    await house.join(one.workspace, other.id, "member");
    const body = { workspace_id: one.workspace };
    const both = await Promise.all([
      grab(one.headers, "/devices", body),
      grab(other.headers, "/devices", body),
    ]);
    expect(both[0].taken + both[1].taken).toBe(MOST + 1);
    expect([...both[0].told, ...both[1].told]).toContain("403 quota_exceeded");
  });

  it("ceilings: a code of somebody without room is not used up", async () => {
    const { headers, workspace } = await tenant();
    const body = { workspace_id: workspace };
    const { bodies } = await grab(headers, "/devices", body);
    const serial = { device_serial: "ceiling-1" };
    const { code } = await house.done("POST", "/devices/pairing-codes", {}, serial);
    const pair = () => house.call("POST", "/devices/pair", headers, { ...body, code });
    expect(await pair()).toMatchObject({ status: 403, code: "quota_exceeded" });
    await house.done("DELETE", `/devices/${bodies[0]?.device_id}`, headers);
    expect(await pair()).toMatchObject({ status: 200 });
  });

  it("ceilings: one workspace has no more webhooks, as its refusal says", async () => {
    const { headers, workspace } = await tenant();
    const path = `/workspaces/${workspace}/webhooks`;
    const { taken, told, message } = await grab(headers, path, { url: "http://127.0.0.1:9/hook" });
    expect(taken).toBe(MOST);
    expect([...told]).toEqual(["403 quota_exceeded"]);
    expect(message).toContain(`at most ${MOST} webhooks`);
  });

  it("ceilings: operators see which are reached, and nobody's name", async () => {
    const { headers, workspace } = await tenant();
    const refused = async (): Promise<number> => {
      const lines = (await house.metrics()).split("\n");
      expect(lines.filter((line) => /^voice_stored_audio_bytes \d+$/.test(line))).toHaveLength(1);
      const own = lines.filter((line) => line.startsWith("voice_quota_refused_total{"));
      // One line for each ceiling, whoever reached it.
      expect(own.every((line) => /^\S+\{ceiling="[a-z_]+"\} \d+$/.test(line))).toBe(true);
      const mine = own.filter((line) => line.includes('"webhooks_per_workspace"'));
      expect(mine).toHaveLength(1);
      return Number(mine[0]?.split(" ")[1]);
    };
    const before = await refused();
    const path = `/workspaces/${workspace}/webhooks`;
    await grab(headers, path, { url: "http://127.0.0.1:9/hook" });
    expect(await refused()).toBe(before + AT_ONCE - MOST);
  });

  it("ceilings: one workspace has no more keys", async () => {
    const { headers, workspace } = await tenant();
    const body = { workspace_id: workspace, name: "K", scopes: ["sessions:read"] };
    const { taken, told } = await grab(headers, "/api-keys", body);
    expect(taken).toBe(MOST);
    expect([...told]).toEqual(["403 quota_exceeded"]);
  });

  it("ceilings: no more sessions record at once, and what records goes on", async () => {
    const { id, headers, workspace } = await tenant();
    const body = { workspace_id: workspace };
    const { taken, told, bodies } = await grab(headers, "/sessions", body);
    expect(taken).toBe(MOST);
    expect([...told]).toEqual(["403 quota_exceeded"]);
    const recording = await house.sql(
      "select id from sessions where owner_id = $1 and status = 'recording'",
      [id],
    );
    expect(recording).toHaveLength(MOST);
    const stopped = await house.call("POST", `/sessions/${bodies[0]?.id}/stop`, headers);
    expect(stopped.status).toBe(200);
    expect((await grab(headers, "/sessions", body)).taken).toBe(1);
  });

  it("ceilings: the members of a workspace share what may record in it", async () => {
    const one = await tenant();
    const other = await house.addUser();
    await house.sql(
      "insert into workspace_members (workspace_id, user_id, role) values ($1, $2, 'member')",
      [one.workspace, other.id],
    );
    const body = { workspace_id: one.workspace };
    const both = await Promise.all([
      grab(one.headers, "/sessions", body),
      grab(other.headers, "/sessions", body),
    ]);
    expect(both[0].taken + both[1].taken).toBe(MOST + 1);
  });

  it("ceilings: other tenants are not held up", async () => {
    const { headers, workspace } = await tenant();
    const made = await house.call("POST", "/sessions", headers, { workspace_id: workspace });
    expect(made.status).toBe(201);
  });
});
