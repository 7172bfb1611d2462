import { credentials } from "@grpc/grpc-js";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { newId } from "../../../src/base/ids.ts";
import { SessionServiceClient } from "../../../src/wire/gen/voice/v1/sessions.ts";
import { AttackedService, type Headers, type Person } from "../../support/attacked-service.ts";
import { TranscriptWatch } from "../../support/transcript-watch.ts";
import { until } from "../../support/until.ts";
import { Viewer } from "../../support/viewer.ts";

const PATIENT_MS = 30_000;
const PERMISSION_DENIED = 7;

describe("a service key whose maker has left", () => {
  let service: AttackedService;
  let admin: Person;
  /** Stays. */
  let founder: Person;
  /** Makes a key and leaves. */
  let leaver: Person;
  let workspaceId: string;
  let sessionId: string;

  beforeAll(async () => {
    service = await AttackedService.open();
    admin = await service.addUser("admin");
  });
  afterAll(() => service?.close());

  beforeEach(async () => {
    founder = await service.addUser();
    leaver = await service.addUser();
    workspaceId = await service.addWorkspace(founder.id);
    await service.join(workspaceId, leaver.id, "owner");
    const made = await service.done("POST", "/sessions", founder.headers, {
      workspace_id: workspaceId,
    });
    sessionId = String(made.id);
  });

  async function keyOf(maker: Person, scopes = ["sessions:read", "export", "query"]) {
    const body = { workspace_id: workspaceId, name: "Archive", scopes };
    const made = await service.done("POST", "/api-keys", maker.headers, body);
    return { id: String(made.id), headers: { "x-api-key": String(made.key) } };
  }

  const read = (headers: Headers) =>
    service.call("GET", `/sessions/${sessionId}/transcript`, headers);

  const member = (person: Person) => `/workspaces/${workspaceId}/members/${person.id}`;

  const ends: Record<string, () => Promise<unknown>> = {
    disabled: () => service.done("POST", `/users/${leaver.id}/disable`, admin.headers),
    "removed from the workspace": () => service.done("DELETE", member(leaver), founder.headers),
    "made a member": () =>
      service.done("PATCH", member(leaver), founder.headers, { role: "member" }),
    erased: async () => {
      await service.sql("delete from workspace_members where user_id = $1", [leaver.id]);
      await service.sql("update users set erased_at = now(), disabled_at = now() where id = $1", [
        leaver.id,
      ]);
    },
  };

  it.each(Object.keys(ends))("%s: the key reads nothing more, and says why", async (end) => {
    const key = await keyOf(leaver);
    expect((await read(key.headers)).status).toBe(200);
    await ends[end]?.();
    await until(async () => (await read(key.headers)).status !== 200, "the key to be refused");
    const refused = await read(key.headers);
    expect([refused.status, refused.code]).toEqual([403, "key_suspended"]);
    expect(refused.body.message).toContain(`/api-keys/${key.id}/adopt`);
    for (const path of ["/sessions", `/workspaces/${workspaceId}/search?q=word`]) {
      expect((await service.call("GET", path, key.headers)).code, path).toBe("key_suspended");
    }
    const ticket = await service.call("POST", "/auth/live-ticket", key.headers);
    expect(ticket.code).toBe("key_suspended");
  });

  it.each(["disabled", "removed from the workspace", "made a member"])(
    "%s: open sockets and watches of the key end",
    async (end) => {
      const { headers } = await keyOf(leaver);
      const viewer = new Viewer(service.liveUrl, { ...headers });
      await viewer.opened();
      viewer.send({ type: "Subscribe", session_id: sessionId });
      await viewer.received("Snapshot");
      const client = new SessionServiceClient(service.grpcAddress, credentials.createInsecure());
      const watch = new TranscriptWatch(client, headers["x-api-key"], { sessionId });
      await watch.until(() => watch.kinds.includes("snapshot"), "the watch to begin");
      await ends[end]?.();
      await until(() => viewer.closeCode !== undefined, "the socket to close", PATIENT_MS);
      expect(viewer.closeCode).toBe(4401);
      expect(await watch.end()).toMatchObject({ status: PERMISSION_DENIED, code: "key_suspended" });
      client.close();
      const again = new Viewer(service.liveUrl, { ...headers });
      await until(() => again.refused !== undefined, "the upgrade to be refused");
      expect(again.refused?.status).toBe(403);
    },
  );

  it("who returns has the key back", async () => {
    const key = await keyOf(leaver);
    await ends.disabled?.();
    expect((await read(key.headers)).code).toBe("key_suspended");
    await service.done("POST", `/users/${leaver.id}/enable`, admin.headers);
    expect((await read(key.headers)).status).toBe(200);
    await ends["made a member"]?.();
    expect((await read(key.headers)).code).toBe("key_suspended");
    await service.done("PATCH", member(leaver), founder.headers, { role: "owner" });
    expect((await read(key.headers)).status).toBe(200);
  });

  it("a secret is worth what the right of who rotated it is worth", async () => {
    const key = await keyOf(founder);
    const rotated = await service.done("POST", `/api-keys/${key.id}/rotate`, leaver.headers);
    const seen = { "x-api-key": String(rotated.key) };
    expect((await read(seen)).status).toBe(200);
    await ends["removed from the workspace"]?.();
    expect((await read(seen)).code).toBe("key_suspended");
    // Only its maker has seen the secret before.
    expect((await read(key.headers)).status).toBe(200);
  });

  it("suspended keys are found by status and by maker", async () => {
    const theirs = await keyOf(leaver);
    const kept = await keyOf(founder);
    const list = async (query: string) => {
      const path = `/api-keys?workspace_id=${workspaceId}&${query}`;
      const { items } = await service.done("GET", path, founder.headers);
      return (items as { id: string }[]).map(({ id }) => id);
    };
    expect(await list("status=suspended")).toEqual([]);
    await ends.disabled?.();
    expect(await list("status=suspended")).toEqual([theirs.id]);
    expect(await list("status=active")).toEqual([kept.id]);
    expect(await list(`created_by=${leaver.id}`)).toEqual([theirs.id]);
    expect(await list(`status=active&created_by=${leaver.id}`)).toEqual([]);
    const wrong = await service.call("GET", "/api-keys?status=odd", founder.headers);
    expect(wrong.status).toBe(400);
    expect(await list(`created_by=${newId()}`)).toEqual([]);
    const shown = await service.done("GET", `/api-keys/${theirs.id}`, founder.headers);
    expect(shown).toMatchObject({ status: "suspended", created_by: leaver.id });
  });

  it("whoever ends a right is told what of theirs is suspended with it", async () => {
    await keyOf(leaver);
    await keyOf(leaver);
    await keyOf(founder);
    const at = { workspace_id: workspaceId };
    await service.done("POST", "/devices", leaver.headers, at);
    const hook = { url: "https://93.184.216.34/hook" };
    await service.done("POST", `/workspaces/${workspaceId}/webhooks`, leaver.headers, hook);
    const told = async (end: string) => {
      const said = (await ends[end]?.()) as { message: string } | undefined;
      return said?.message ?? "";
    };
    expect(await told("made a member")).toContain("2 service keys and 1 webhook are suspended");
    const all = "2 service keys, 1 device and 1 webhook are suspended";
    expect(await told("removed from the workspace")).toContain(all);
    expect(await told("disabled")).toContain(all);
    const path = `/users/${founder.id}/enable`;
    const nothing = await service.done("POST", path, admin.headers);
    expect(nothing.message).toBe("The user is enabled and can sign in again.");
  });

  describe("adopted", () => {
    const adopt = (id: string, by: Person) =>
      service.call("POST", `/api-keys/${id}/adopt`, by.headers);

    async function elevate(body: object): Promise<Person> {
      const other = await service.addUser("admin");
      const asked = { reason: "The archive stands still", ...body };
      await service.done("POST", "/admin/content-elevate", other.headers, asked);
      return other;
    }

    it("by another owner: it works again with the same secret, and this is on record", async () => {
      const key = await keyOf(leaver);
      await ends["removed from the workspace"]?.();
      const adopted = await adopt(key.id, founder);
      expect(adopted.body).toMatchObject({ status: "active", created_by: founder.id });
      expect((await read(key.headers)).status).toBe(200);
      const path = `/admin/audit?kind=service_key_adopted&workspace_id=${workspaceId}`;
      const { items } = await service.done("GET", path, admin.headers);
      expect(items).toMatchObject([
        { subject_id: key.id, actor: { id: founder.id }, detail: { before: leaver.id } },
      ]);
    });

    it("by an administrator: under an elevation only, of this workspace or of all", async () => {
      const key = await keyOf(leaver);
      await ends.disabled?.();
      const elsewhere = await service.addWorkspace(founder.id);
      const wrong = [admin, await elevate({ workspace_id: elsewhere })];
      for (const each of [...wrong, await elevate({ session_id: sessionId })]) {
        const refused = await adopt(key.id, each);
        expect([refused.status, refused.code]).toEqual([403, "elevation_required"]);
      }
      expect((await read(key.headers)).code).toBe("key_suspended");
      for (const each of [await elevate({ workspace_id: workspaceId }), await elevate({})]) {
        expect((await adopt(key.id, each)).status).toBe(200);
        expect((await read(key.headers)).status).toBe(200);
        await service.done("PATCH", `/users/${each.id}`, admin.headers, { role: "participant" });
        await until(async () => (await read(key.headers)).status === 403, "the key to be refused");
      }
    });

    it("by nobody else", async () => {
      const key = await keyOf(leaver);
      const member = await service.addUser();
      await service.join(workspaceId, member.id, "member");
      const moderator = await service.addUser("moderator");
      await service.join(workspaceId, moderator.id, "member");
      await ends["made a member"]?.();
      for (const each of [member, moderator, leaver, await service.addUser()]) {
        expect((await adopt(key.id, each)).status).toBe(403);
      }
      expect((await read(key.headers)).code).toBe("key_suspended");
    });
  });
});
