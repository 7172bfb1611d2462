import { beforeAll, describe, expect, it } from "vitest";
import { AppFixture } from "../support/app-fixture.ts";
import { call, PairedDevice, persistently, scriptedChunks } from "../support/paired-device.ts";
import { newOwner } from "../support/workspace-owner.ts";

interface Entity {
  id: string;
  name: string;
  type: string;
  mention_count: number;
  community_id?: string;
}

interface Graph {
  entities: Entity[];
  relations: { source_id: string; target_id: string; kind: string; label?: string }[];
  communities: { id: string; entity_ids: string[] }[];
  stale: boolean;
  session_count: number;
}

interface Path {
  entities: Entity[];
  steps: { segments: { segment_id: string; text: string }[] }[];
}

describe("graph", () => {
  let service: AppFixture;
  let device: PairedDevice;
  let workspaceId: string;
  beforeAll(async () => {
    service = await AppFixture.shared();
    device = await PairedDevice.pair(service, await newOwner(service));
    await device.start();
    const chunks = scriptedChunks(2);
    for (const [sequence, pcm] of chunks.entries()) await device.upload(sequence, pcm);
    await device.stop(chunks.length - 1);
    await device.completed();
    workspaceId = (await device.get<{ workspace_id: string }>("")).body.workspace_id;
  });

  const get = <T>(path: string, token = device.token) =>
    persistently<T>(service, "GET", path, { token });
  const workspace = <T>(path: string) => get<T>(`/workspaces/${workspaceId}/graph${path}`);

  function named(graph: Graph, name: string): Entity {
    const entity = graph.entities.find((each) => each.name.toLowerCase() === name);
    if (entity !== undefined) return entity;
    throw new Error(`No ${name} among ${graph.entities.map((each) => each.name).join(", ")}`);
  }

  it("graph: what the scripted conversation is about", async () => {
    const { status, body } = await device.get<Graph>("/graph");
    expect(status).toBe(200);
    expect(body).toMatchObject({ stale: false, session_count: 1 });
    expect(named(body, "new york").type).toBe("place");
    expect(named(body, "report")).toMatchObject({ type: "topic", mention_count: 2 });
    expect(named(body, "wednesday").type).toBe("date");
    expect(body.entities.filter(({ type }) => type === "speaker")).toHaveLength(3);
    const actions = body.relations.filter(({ kind }) => kind === "action");
    expect(actions.map(({ label }) => label).sort()).toEqual(["finish", "talk to", "write to"]);
    expect(body.communities.length).toBeGreaterThan(1);
    for (const { id, community_id } of body.entities) {
      const home = body.communities.find(({ entity_ids }) => entity_ids.includes(id));
      expect(community_id).toBe(home?.id);
    }
    expect((await device.get<Graph>("/graph")).body).toEqual(body);
  });

  it("graph: who claims a voice is in the graph by name", async () => {
    const claim = { speaker_label: "S1", source: "self_claim" };
    const path = `/sessions/${device.sessionId}/speaker-claims`;
    await call(service.api, "POST", path, { token: device.token, body: claim });
    await expect
      .poll(
        async () => {
          const { body } = await device.get<Graph>("/graph?type=speaker");
          return body.entities.map(({ name }) => name);
        },
        { timeout: 30_000, interval: 500 },
      )
      .toContain("Olga");
  });

  it("graph: an entity leads to the words, and a path to those that connect", async () => {
    const { body: graph } = await workspace<Graph>("?limit=500");
    const report = named(graph, "report");
    const { body } = await workspace<{ items: Record<string, unknown>[] }>(
      `/entities/${report.id}`,
    );
    const segments = await device.segments();
    expect(body.items).toHaveLength(2);
    for (const item of body.items) {
      const segment = segments.find(({ id }) => id === item.segment_id);
      expect(item).toMatchObject({ session_id: device.sessionId, text: segment?.text });
      expect(segment?.text).toContain("report");
      expect(item.start_ms).toBeGreaterThanOrEqual(segment?.start_ms ?? 0);
      expect(item.end_ms).toBeLessThanOrEqual(segment?.end_ms ?? 0);
    }
    const place = named(graph, "new york");
    const { body: path } = await workspace<Path>(`/path?from=${place.id}&to=${report.id}`);
    expect(path.entities[0]?.name).toBe(place.name);
    expect(path.entities.at(-1)?.name).toBe(report.name);
    expect(path.steps).toHaveLength(path.entities.length - 1);
    for (const { segments: spoken } of path.steps) expect(spoken.length).toBeGreaterThan(0);
    expect((await workspace(`/path?from=${place.id}`)).status).toBe(400);
    expect((await workspace(`/path?from=${place.id}&to=nobody`)).status).toBe(404);
    expect((await workspace("/entities/nobody")).status).toBe(404);
    expect((await workspace("?type=colour")).status).toBe(400);
    expect((await workspace("?from=yesterday")).status).toBe(400);
  });

  it("graph: guests have none, and after a deletion nobody has", async () => {
    const guest = await call<{ token: string }>(service.api, "POST", "/auth/guest", {
      body: { session_id: device.sessionId, display_name: "Gus" },
    });
    const path = `/sessions/${device.sessionId}/graph`;
    expect((await get(path, guest.body.token)).status).toBe(403);
    const { token } = device;
    await call(service.api, "DELETE", `/sessions/${device.sessionId}`, { token });
    expect((await get(path)).status).toBe(404);
    const { body } = await workspace<Graph>("");
    expect(body).toMatchObject({ entities: [], session_count: 0 });
  });
});
