import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { SYSTEM } from "../../src/access/audit-entry.ts";
import type { DevicePrincipal, Principal, UserPrincipal } from "../../src/access/principal.ts";
import { newId } from "../../src/base/ids.ts";
import { PostgresSessionDeletion } from "../../src/conversations/erasure/session-erasure-store.ts";
import { DELETION_PARTS } from "../../src/roles/other-tables.ts";
import { type Call, callRoute, codeOf, jsonBody } from "../support/route-call.ts";
import { serviceKey } from "../support/service-principal.ts";
import { SessionFixture } from "../support/session-fixture.ts";

describe("custom fields", () => {
  let fixture: SessionFixture;
  let device: DevicePrincipal;
  let owner: UserPrincipal;
  let key: Principal;

  beforeAll(async () => {
    fixture = await SessionFixture.open();
    ({ device, owner } = await fixture.ownDevice());
    key = await storedKey(device.workspaceId);
  });
  afterAll(() => fixture.close());

  /** A key that is on record, as lists are read by it. */
  async function storedKey(workspaceId: string): Promise<Principal> {
    const stored = serviceKey(workspaceId, owner.id, ["sessions:read", "sessions:write"]);
    await fixture.sql(
      "insert into service_keys (id, workspace_id, name, scopes) values ($1, $2, 'Key', $3)",
      [stored.id, workspaceId, stored.scopes],
    );
    return stored;
  }

  async function call(id: string, overrides: Call) {
    return jsonBody(await callRoute(fixture.routes, id, { principal: key, ...overrides }));
  }

  const create = (body: object, principal = key) => call("createSession", { principal, body });
  const edit = (id: unknown, body: object, principal = key) =>
    call("editSession", { principal, params: { session_id: String(id) }, body });
  const get = (id: unknown, principal = key) =>
    call("getSession", { principal, params: { session_id: String(id) } });

  async function found(query: Record<string, unknown>, principal = key): Promise<unknown[]> {
    const { items } = await call("listSessions", { principal, query });
    return (items as { id: string }[]).map(({ id }) => id);
  }

  const messageOf = (work: Promise<unknown>) =>
    work.then(
      () => "none",
      (error: Error) => error.message,
    );

  it("custom fields: a key makes a session with them, its maker owns it, and no guest gets in", async () => {
    const sent = { external_id: "call-1", metadata: { customer: "acme" }, tags: ["a", "b", "a"] };
    const made = await create({ ...sent, title: "Call", visibility: "workspace" });
    const known = { external_id: "call-1", metadata: { customer: "acme" }, tags: ["a", "b"] };
    expect(made).toMatchObject({
      ...known,
      ...{ owner_id: owner.id, workspace_id: device.workspaceId, guest_access: "closed" },
      ...{ visibility: "workspace", status: "recording" },
    });
    expect(await get(made.id)).toMatchObject(known);
    expect(await get(made.id, owner)).toMatchObject(known);
  });

  it("custom fields: a key needs the scope, and makes sessions of its workspace without devices", async () => {
    const reads = serviceKey(device.workspaceId, owner.id, ["sessions:read"]);
    expect(await codeOf(create({}, reads))).toBe("forbidden");
    const other = await fixture.workspace(owner.id);
    expect(await codeOf(create({ workspace_id: other }))).toBe("not_found");
    expect(await codeOf(create({ device_id: device.id }))).toBe("forbidden");
    const stranger = await fixture.user();
    const orphan = serviceKey(device.workspaceId, stranger.id, ["sessions:write"]);
    expect(await codeOf(create({}, orphan))).toBe("forbidden");
    expect(await codeOf(create({}, device))).toBe("forbidden");
  });

  it("custom fields: an external id is one session's of the workspace, until that is deleted", async () => {
    const { id: first } = await create({ external_id: "twice" });
    const writes = serviceKey(device.workspaceId, owner.id, ["sessions:write"]);
    const again = () => create({ external_id: "twice" });
    expect(await codeOf(again())).toBe("external_id_taken");
    expect(await messageOf(again())).toContain(String(first));
    // Who may not read the other session does not learn which it is.
    expect(await messageOf(create({ external_id: "twice" }, writes))).not.toContain(String(first));
    const { id: second } = await create({});
    expect(await codeOf(edit(second, { external_id: "twice" }))).toBe("external_id_taken");
    expect(await messageOf(edit(second, { external_id: "twice" }))).toContain(String(first));
    const elsewhere = await fixture.workspace(owner.id);
    const made = await create({ external_id: "twice", workspace_id: elsewhere }, owner);
    expect(made.external_id).toBe("twice");
    const deletion = new PostgresSessionDeletion(fixture.pool, DELETION_PARTS);
    await deletion.erase(String(first), "session_deleted_by_owner", SYSTEM);
    expect(await edit(second, { external_id: "twice" })).toMatchObject({ external_id: "twice" });
    const [row] = await fixture.sql(
      "select external_id, metadata, tags from sessions where id = $1",
      [first],
    );
    expect(row).toEqual({ external_id: null, metadata: {}, tags: [] });
  });

  it("custom fields: of many who want one external id at once one gets it", async () => {
    const outcomes = await Promise.all(
      Array.from({ length: 8 }, () => codeOf(create({ external_id: "raced" }))),
    );
    expect(outcomes.filter((code) => code === "none")).toHaveLength(1);
    expect(outcomes.filter((code) => code === "external_id_taken")).toHaveLength(7);
  });

  it("custom fields: are changed and taken away", async () => {
    const { id } = await create({ external_id: "old", metadata: { a: "1", b: "2" }, tags: ["x"] });
    const change = { external_id: "new", metadata: { a: "3" }, tags: ["y", "z"] };
    expect(await edit(id, change)).toMatchObject(change);
    const nothing = { external_id: null, metadata: {}, tags: [] };
    const { external_id, metadata, tags } = await edit(id, nothing);
    expect({ external_id, metadata, tags }).toEqual({
      external_id: undefined,
      metadata: {},
      tags: [],
    });
    expect(await edit(id, { title: "Named" })).toMatchObject({ title: "Named", tags: [] });
  });

  it("custom fields: what is too long in bytes or holds control characters is refused", async () => {
    const long = "é".repeat(129);
    const keys = Object.fromEntries(
      Array.from({ length: 5 }, (_, n) => [`k${n}`, "x".repeat(500)]),
    );
    const wrong = [
      { external_id: long },
      { external_id: "a\nb" },
      { metadata: { ["k".repeat(65)]: "v" } },
      { metadata: { k: "é".repeat(257) } },
      { metadata: { "": "v" } },
      { metadata: { k: "\u0007" } },
      { metadata: keys },
      { tags: ["é".repeat(33)] },
      { tags: [""] },
    ];
    for (const body of wrong) {
      expect(await codeOf(create(body)), JSON.stringify(body)).toBe("invalid_body");
    }
    const { id } = await create({});
    expect(await codeOf(edit(id, { tags: ["é".repeat(33)] }))).toBe("invalid_body");
  });

  it("custom fields: sessions are found, sorted and counted by them", async () => {
    const workspaceId = await fixture.workspace(owner.id);
    const other = await storedKey(workspaceId);
    const make = async (external_id: string, tags: string[], metadata: object) =>
      (await create({ external_id, tags, metadata }, other)).id;
    const one = await make("b", ["x", "shared"], { customer: "acme", "odd:key": "v" });
    const two = await make("a", ["y", "shared"], { customer: "acme: Berlin" });
    const three = await make("c", [], {});
    for (const principal of [other, owner]) {
      const mine = { workspace_id: workspaceId };
      expect(await found({ external_id: "a", ...mine }, principal)).toEqual([two]);
      expect(await found({ tag: "shared", ...mine }, principal)).toEqual([two, one]);
      expect(await found({ tag: ["shared", "x"], ...mine }, principal)).toEqual([one]);
      expect(await found({ tag: "Shared", ...mine }, principal)).toEqual([]);
      expect(await found({ metadata: "customer:acme", ...mine }, principal)).toEqual([one]);
      expect(await found({ metadata: "customer:acme: Berlin", ...mine }, principal)).toEqual([two]);
      expect(await found({ metadata: "odd:key:v", ...mine }, principal)).toEqual([]);
      expect(await found({ metadata: "customer:b", tag: "x", ...mine }, principal)).toEqual([]);
      expect(await found({ language: "en", ...mine }, principal)).toEqual([three, two, one]);
      expect(await found({ language: "de", ...mine }, principal)).toEqual([]);
      const sorted = { sort: "external_id", ...mine };
      expect(await found(sorted, principal)).toEqual([two, one, three]);
      const first = await call("listSessions", { principal, query: { ...sorted, limit: 2 } });
      const rest = { ...sorted, limit: 2, cursor: first.next_cursor };
      expect(await found(rest, principal)).toEqual([three]);
      const backwards = { sort: "-external_id", ...mine };
      expect(await found(backwards, principal)).toEqual([three, one, two]);
      const counted = { ...mine, tag: "shared", count: true, limit: 1 };
      expect(await call("listSessions", { principal, query: counted })).toMatchObject({ total: 2 });
    }
    expect(await found({ tag: "shared" }, owner)).toEqual([two, one]);
    const stranger = await fixture.user();
    expect(await found({ tag: "shared" }, stranger)).toEqual([]);
    expect(
      await found({ external_id: "a" }, serviceKey(newId(), owner.id, ["sessions:read"])),
    ).toEqual([]);
  });

  it("custom fields: a session is found by what it has now, and by nothing once it is deleted", async () => {
    const { id } = await create({ external_id: "was", metadata: { k: "was" }, tags: ["was"] });
    const queries = (text: string) => [
      { external_id: text },
      { tag: text },
      { metadata: `k:${text}` },
    ];
    await edit(id, { external_id: "is", metadata: { k: "is" }, tags: ["is"] });
    const admin = await fixture.user("admin");
    for (const principal of [key, owner, admin]) {
      for (const query of queries("is")) expect(await found(query, principal)).toEqual([id]);
      for (const query of queries("was")) expect(await found(query, principal)).toEqual([]);
    }
    const deletion = new PostgresSessionDeletion(fixture.pool, DELETION_PARTS);
    await deletion.erase(String(id), "session_deleted_by_owner", SYSTEM);
    for (const query of queries("is")) {
      expect(await found({ ...query, status: "deleted" }, admin)).toEqual([]);
    }
    const [row] = await fixture.sql(
      "select external_key, keys from session_listings where session_id = $1",
      [id],
    );
    expect(row).toEqual({ external_key: "", keys: [] });
  });

  it("custom fields: who sees a session in several ways finds and counts it once", async () => {
    const { id } = await create({ tags: ["seen"], visibility: "workspace" });
    await fixture.sql(
      "insert into session_members (session_id, user_id, relation) values ($1, $2, 'shared')",
      [id, owner.id],
    );
    const query = { tag: "seen", count: true };
    const answer = await call("listSessions", { principal: owner, query });
    expect(answer).toMatchObject({ items: [{ id }], total: 1 });
  });

  it("custom fields: of two stale edits at once one is refused", async () => {
    const { id } = await create({ tags: ["x"] });
    const expected = await get(id);
    const change = (tags: string[]) =>
      call("editSession", { params: { session_id: String(id) }, body: { tags }, expected });
    expect(await change(["one"])).toMatchObject({ tags: ["one"] });
    expect(await codeOf(change(["two"]))).toBe("precondition_failed");
  });
});
