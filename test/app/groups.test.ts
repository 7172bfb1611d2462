import { beforeAll, describe, expect, it } from "vitest";
import { AppFixture } from "../support/app-fixture.ts";
import { call, PairedDevice, type Segment, scriptedChunks } from "../support/paired-device.ts";
import { Viewer } from "../support/viewer.ts";
import { newOwner } from "../support/workspace-owner.ts";

type Body = Record<string, unknown>;

describe("groups", () => {
  let service: AppFixture;
  let device: PairedDevice;
  let workspaceId: string;
  let workshopId: string;

  beforeAll(async () => {
    service = await AppFixture.shared();
    device = await PairedDevice.pair(service, await newOwner(service, "admin"));
    const { items } = (await send("GET", "/workspaces")).body as { items: Body[] };
    workspaceId = String(items[0]?.id);
    const workshop = { workspace_id: workspaceId, name: "The Seagull" };
    workshopId = String((await send("POST", "/workshops", workshop)).body.id);
    await device.start();
    const chunks = scriptedChunks(2).slice(0, 11);
    for (const [sequence, pcm] of chunks.entries()) await device.upload(sequence, pcm);
    await device.stop(chunks.length - 1);
    await device.completed();
  });

  const send = (method: string, path: string, body?: unknown, token = device.token) =>
    call<Body>(service.api, method, path, { token, ...(body === undefined ? {} : { body }) });
  const session = (path: string) => `/sessions/${device.sessionId}${path}`;

  async function follow(): Promise<Viewer> {
    const viewer = new Viewer(service.ready.live_url, { authorization: `Bearer ${device.token}` });
    await viewer.opened();
    viewer.send({ type: "Subscribe", session_id: device.sessionId });
    await viewer.received("Snapshot");
    return viewer;
  }

  it("groups: the names of a linked workshop's characters are suggested for voices", async () => {
    const characters = `/workshops/${workshopId}/characters`;
    const nina = (await send("POST", characters, { name: "Nina" })).body;
    await send("POST", characters, { name: "Boris", description: "A writer" });
    const linked = await send("PATCH", session(""), { workshop_id: workshopId });
    expect(linked.body.workshop_id).toBe(workshopId);
    const suggested = async () => (await send("GET", session("/speakers"))).body.suggested_names;
    expect(await suggested()).toEqual(["Boris", "Nina"]);
    const put = { name: "Nina Z", description: "", is_active: false };
    const path = `${characters}/${String(nina.id)}`;
    expect((await send("PUT", path, put)).body).toMatchObject({ id: nina.id, ...put });
    expect(await suggested()).toEqual(["Boris"]);
    expect((await send("PUT", path, { ...put, is_active: "yes" })).status).toBe(400);
    expect((await send("PATCH", session(""), { workshop_id: 7 })).status).toBe(400);
    const again = await call<Body>(service.api, "POST", `/devices/${device.id}/session/start`, {
      key: device.key,
      body: { workshop_id: workshopId },
    });
    expect(again.status).toBe(201);
    const started = (await send("GET", `/sessions/${String(again.body.session_id)}`)).body;
    expect(started.workshop_id).toBe(workshopId);
  });

  it("groups: a guest's privacy concern is resolved by redacting, and followers see both", async () => {
    const [first, second] = (await device.segments()) as [Segment, Segment];
    const viewer = await follow();
    const joined = await call<{ token: string }>(service.api, "POST", "/auth/guest", {
      body: { session_id: device.sessionId, display_name: "Gus" },
    });
    const guest = joined.body.token;
    const raised = await send(
      "POST",
      session("/concerns"),
      { category: "privacy", description: "That is my name.", segment_id: first.id },
      guest,
    );
    expect(raised.status).toBe(201);
    expect(raised.body).toMatchObject({ start_ms: first.start_ms, end_ms: first.end_ms });
    const concernId = String(raised.body.id);
    expect(await viewer.received("ConcernRaised")).toMatchObject({ concern_id: concernId });
    const listed = await send("GET", "/concerns?status=open");
    expect(listed.body.items).toEqual([raised.body]);
    const own = await send("GET", session("/concerns"), undefined, guest);
    expect(own.body.items).toEqual([raised.body]);
    const path = `/concerns/${concernId}`;
    const resolve = { status: "resolved", resolution: "Taken out.", redact: true };
    expect((await send("PATCH", path, resolve, guest)).status).toBe(403);
    const resolved = await send("PATCH", path, resolve);
    expect(resolved.body).toMatchObject({ status: "resolved", resolution: "Taken out." });
    const frame = await viewer.received("Redacted");
    expect(frame).toMatchObject({
      redaction_id: resolved.body.redaction_id,
      segment_ids: [first.id],
    });
    const [redacted, kept] = await device.segments();
    expect(redacted?.text).toBe("[redacted-span]");
    expect(kept?.text).toBe(second.text);
    const got = await send("GET", path, undefined, guest);
    expect(got.body).toMatchObject({ status: "resolved", handled_by: expect.any(String) });
    viewer.socket.close();
  });

  it("groups: a workspace keeps its retention, and is not deleted under its sessions", async () => {
    const path = `/workspaces/${workspaceId}`;
    const edited = await send("PATCH", path, { retention_days: 90 });
    expect(edited.body.retention_days).toBe(90);
    for (const wrong of [0, 3_651, "never"]) {
      expect((await send("PATCH", path, { retention_days: wrong })).status).toBe(400);
    }
    expect((await send("DELETE", path)).status).toBe(409);
    const empty = (await send("POST", "/workspaces", { name: "Empty" })).body;
    const gone = `/workspaces/${String(empty.id)}`;
    expect((await send("DELETE", gone)).status).toBe(200);
    expect((await send("GET", gone)).status).toBe(404);
  });
});
