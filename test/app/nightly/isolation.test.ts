import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { ApiClient } from "../../support/api-client.ts";
import { AppFixture } from "../../support/app-fixture.ts";
import {
  type Cursors,
  type ForeignRequest,
  foreignRequests,
  ownRequests,
  readings,
} from "../../support/foreign-requests.ts";
import { scriptedChunks } from "../../support/paired-device.ts";
import { ACTORS, Tenant } from "../../support/tenant.ts";
import { until } from "../../support/until.ts";
import { Viewer } from "../../support/viewer.ts";

/** Two users in two workspaces: what the one has never reaches the other, by any route. */
describe("isolation", () => {
  let service: AppFixture;
  let client: ApiClient;
  let document: object;
  let one: Tenant;
  let two: Tenant;

  beforeAll(async () => {
    service = await AppFixture.start({
      RATE_LIMIT_FACTOR: "0",
      WEBHOOK_ALLOW_PRIVATE: "true",
    });
    client = await ApiClient.connect(service.api);
    document = (await client.call("GET", "/openapi.json")).body;
    const login = await client.call("POST", "/auth/login", { body: service.ready.admin });
    const admin = { authorization: `Bearer ${String(login.body.token)}` };
    one = await Tenant.open(client, admin, scriptedChunks(2).slice(0, 6));
    two = await Tenant.open(client, admin, scriptedChunks(2).slice(11, 17));
  });
  afterAll(() => service?.stop());

  const pairs = () => [[one, two] as const, [two, one] as const];

  async function ask(
    { method, path, body }: ForeignRequest,
    headers: Readonly<Record<string, string>>,
  ): Promise<{ status: number; seen: string; next: unknown }> {
    const options = body === undefined ? { headers } : { headers, body };
    const answer = await client.call(method, path, options);
    const seen = JSON.stringify([...answer.headers]) + answer.text;
    const next = (answer.body as { next_cursor?: unknown } | undefined)?.next_cursor;
    return { status: answer.status, seen, next };
  }

  /** Every secret is shown somewhere to whom it belongs, or its absence elsewhere says nothing. */
  it("isolation: each sees what is its own", async () => {
    for (const tenant of [one, two]) {
      const seen: string[] = [];
      for (const request of readings(document).flatMap((each) => ownRequests(each, tenant))) {
        for (const actor of ["user", "guest"] as const) {
          seen.push((await ask(request, tenant.callers[actor])).seen);
        }
      }
      const all = seen.join("\n");
      const unseen = tenant.secrets.filter((secret) => !all.includes(secret));
      // Vocabulary goes to the recogniser and is shown to nobody.
      expect(unseen).toEqual([tenant.vocabulary]);
    }
  });

  it("isolation: no route shows the other anything, with whatever ids, filters and cursors", async () => {
    const leaks: string[] = [];
    let asked = 0;
    for (const [own, other] of pairs()) {
      const cursors = await cursorsOf(other);
      expect(cursors.size).toBeGreaterThan(10);
      for (const reading of readings(document)) {
        for (const request of foreignRequests(reading, own, other, cursors)) {
          // Everybody in the one direction; in the other one, whoever may do most.
          const actors = own === one ? [...ACTORS, undefined] : (["user"] as const);
          for (const actor of actors) {
            const headers = actor === undefined ? {} : own.callers[actor];
            const leak = findLeak(request, await ask(request, headers), other);
            if (leak !== undefined) leaks.push(`${actor ?? "nobody"}: ${leak}`);
            asked += 1;
          }
        }
      }
    }
    expect(leaks).toEqual([]);
    expect(asked).toBeGreaterThan(1_000);
  });

  it("isolation: no live channel shows the other anything", async () => {
    for (const [own, other] of pairs()) {
      for (const actor of ["user", "moderator", "guest", "key"] as const) {
        const viewer = new Viewer(service.ready.live_url, { ...own.callers[actor] });
        await viewer.opened();
        viewer.send({ type: "Subscribe", session_id: other.ids.session_id, from_seq: 0 });
        expect(await viewer.closed(), actor).toBe(actor === "key" ? 4404 : 4403);
        expect(secretIn(JSON.stringify(viewer.frames), other)).toBeUndefined();
      }
      const stream = `${service.ready.live_url.replace(/live$/, "devices")}/${other.ids.device_id}/stream`;
      const device = new Viewer(stream, { ...own.callers.device });
      await until(() => device.refused !== undefined, "the refusal of the device's stream");
      expect(device.refused?.status).toBeGreaterThanOrEqual(400);
      expect(device.frames).toEqual([]);
    }
  });

  /** Of the tenant's own lists that have a next page, by template. */
  async function cursorsOf(tenant: Tenant): Promise<Cursors> {
    const cursors = new Map<string, string>();
    for (const reading of readings(document)) {
      const [request] = ownRequests(reading, tenant);
      if (request === undefined || reading.method !== "get") continue;
      const mark = request.path.includes("?") ? "&" : "?";
      const paged = { ...request, path: `${request.path}${mark}limit=1` };
      const { next } = await ask(paged, tenant.callers.user);
      if (typeof next === "string") cursors.set(reading.template, next);
    }
    return cursors;
  }
});

function findLeak(
  { method, path, isForeign }: ForeignRequest,
  { status, seen }: { status: number; seen: string },
  other: Tenant,
): string | undefined {
  const what = `${method} ${path} answered ${status}`;
  const secret = secretIn(seen, other);
  if (secret !== undefined) return `${what} with "${secret}"`;
  if (status >= 400) return undefined;
  if (isForeign) return `${what}, for something of the other's`;
  const id = namesOf(other).find((each) => seen.includes(each));
  return id === undefined ? undefined : `${what} with the other's id ${id}`;
}

/** Its ids, without numbers: everybody's chunks are numbered from 0. */
function namesOf({ ids }: Tenant): string[] {
  return Object.values(ids).filter((id) => !/^\d*$/.test(id));
}

function secretIn(text: string, tenant: Tenant): string | undefined {
  return tenant.secrets.find((secret) => text.includes(secret));
}
