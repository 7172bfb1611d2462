import { sql } from "slonik";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { newId } from "../../src/base/ids.ts";
import { PostgresDeviceSessions } from "../../src/conversations/recording/device-sessions-store.ts";
import { OTHER_TABLES } from "../../src/roles/other-tables.ts";
import { AccountFixture } from "../support/account-fixture.ts";
import { callRoute, codeOf, jsonBody } from "../support/route-call.ts";

type Body = Record<string, unknown>;
type Person = Awaited<ReturnType<AccountFixture["addUser"]>> & { token: string };

describe("workspaces", () => {
  let fixture: AccountFixture;
  let owner: Person;
  let member: Person;
  let id: string;

  beforeAll(async () => {
    fixture = await AccountFixture.open();
    owner = await person();
    member = await person();
  });
  afterAll(() => fixture.close());
  beforeEach(async () => {
    id = await fixture.addWorkspace(owner.id);
  });

  async function person(role: "admin" | "participant" = "participant"): Promise<Person> {
    const user = await fixture.addUser(role);
    return { ...user, token: (await fixture.login(user.email)).token };
  }

  async function ask(
    { token }: Person,
    route: string,
    params: Record<string, string>,
    body?: unknown,
  ): Promise<Body> {
    const principal = await fixture.asUser(token);
    return jsonBody(await callRoute(fixture.routes, route, { principal, params, body }));
  }

  const edit = (by: Person, body: Body) => ask(by, "editWorkspace", { id }, body);
  const remove = (by: Person) => ask(by, "removeWorkspace", { id });
  const add = (user: Person, role: "owner" | "member" = "member") =>
    fixture.members.add(id, user.id, role, { by: { kind: "user", id: owner.id } });

  async function audited(): Promise<unknown[]> {
    const { rows } = await fixture.pool.query(sql.unsafe`
      select kind, actor_id, subject_id, detail from audit_log
      where workspace_id = ${id} order by seq`);
    return [...rows];
  }

  it("members: no administrator lets himself in, or makes himself an owner", async () => {
    const admin = await person("admin");
    const letIn = (by: Person) => ask(by, "addWorkspaceMember", { id }, { user_id: admin.id });
    expect(await codeOf(letIn(admin))).toBe("elevation_required");
    const wish = { reason: "To ask who left the workspace", workspace_id: id };
    await ask(admin, "elevateContent", {}, wish);
    expect(await codeOf(letIn(admin))).toBe("forbidden");
    expect(await codeOf(letIn(owner))).toBe("none");
    const params = { id, user_id: admin.id };
    const raise = ask(admin, "changeWorkspaceRole", params, { role: "owner" });
    expect(await codeOf(raise)).toBe("forbidden");
    expect(await audited()).toMatchObject([
      { kind: "content_elevated" },
      { kind: "workspace_member_invited", actor_id: owner.id },
    ]);
  });

  it("edit: by an owner or an admin; only what is sent changes, and retention is audited", async () => {
    await add(member);
    expect(await codeOf(edit(member, { name: "Mine" }))).toBe("forbidden");
    expect(await codeOf(edit(owner, {}))).toBe("invalid_body");
    const named = await edit(owner, { name: "Ours", preferred_language: "PT-br" });
    expect(named).toMatchObject({ name: "Ours", preferred_language: "pt-BR" });
    expect(named).not.toHaveProperty("retention_days");
    expect(named).toMatchObject({ vocabulary: [] });
    const vocabulary = ["Rüti", "Project Harbour"];
    expect(await edit(owner, { vocabulary })).toMatchObject({ name: "Ours", vocabulary });
    expect(await edit(owner, { name: "Ours" })).toMatchObject({ vocabulary });
    const admin = await person("admin");
    const kept = await edit(admin, { retention_days: 30, workspace_type: "team" });
    expect(kept).toMatchObject({ name: "Ours", workspace_type: "team", retention_days: 30 });
    await edit(owner, { retention_days: 30 });
    expect(await edit(owner, { retention_days: null })).not.toHaveProperty("retention_days");
    expect(await codeOf(edit(owner, { preferred_language: "not a tag" }))).toBe("invalid_body");
    expect(await audited()).toMatchObject([
      { kind: "workspace_member_added" },
      { kind: "retention_changed", actor_id: admin.id, detail: { before: "", after: 30 } },
      { kind: "retention_changed", actor_id: owner.id, detail: { before: 30, after: "" } },
    ]);
  });

  it("edit: what guests of its sessions may do is audited when it changes, and nothing else is", async () => {
    const admin = await person("admin");
    await edit(owner, { default_guest_access: "invitation" });
    await edit(owner, { default_guest_access: "invitation", name: "Ours" });
    await edit(admin, { default_guest_access: "closed", retention_days: 30 });
    expect(await edit(owner, { default_guest_access: null })).not.toHaveProperty(
      "default_guest_access",
    );
    expect(await audited()).toEqual([
      {
        ...{ kind: "guest_access_changed", actor_id: owner.id, subject_id: null },
        detail: { before: "", after: "invitation" },
      },
      {
        ...{ kind: "retention_changed", actor_id: admin.id, subject_id: null },
        detail: { before: "", after: 30 },
      },
      {
        ...{ kind: "guest_access_changed", actor_id: admin.id, subject_id: null },
        detail: { before: "invitation", after: "closed" },
      },
      {
        ...{ kind: "guest_access_changed", actor_id: owner.id, subject_id: null },
        detail: { before: "closed", after: "" },
      },
    ]);
  });

  it("edit: of two that knew the same state one is taken", async () => {
    const expected = await ask(owner, "getWorkspace", { id });
    const principal = await fixture.asUser(owner.token);
    const rename = (name: string) =>
      codeOf(
        callRoute(fixture.routes, "editWorkspace", {
          principal,
          params: { id },
          expected,
          body: { name },
        }),
      );
    const codes = await Promise.all(["one", "two", "three"].map(rename));
    expect(codes.toSorted()).toEqual(["none", "precondition_failed", "precondition_failed"]);
  });

  it("members: joining, changing role and leaving are audited; one owner stays", async () => {
    const roleOf = (user: Person, role: string) =>
      ask(owner, "changeWorkspaceRole", { id, user_id: user.id }, { role });
    const leave = (user: Person) => ask(user, "removeWorkspaceMember", { id, user_id: user.id });
    await add(member);
    const again = ask(owner, "addWorkspaceMember", { id }, { user_id: member.id });
    expect(await codeOf(again)).toBe("conflict");
    expect(await codeOf(roleOf(owner, "member"))).toBe("conflict");
    expect(await codeOf(roleOf(await person(), "owner"))).toBe("not_found");
    await roleOf(member, "owner");
    await roleOf(member, "owner");
    await leave(owner);
    expect(await codeOf(leave(member))).toBe("conflict");
    const about = (subject: Person, by: Person) => ({ subject_id: subject.id, actor_id: by.id });
    expect(await audited()).toEqual([
      { kind: "workspace_member_added", ...about(member, owner), detail: { role: "member" } },
      {
        kind: "workspace_role_changed",
        ...about(member, owner),
        detail: { before: "member", after: "owner" },
      },
      { kind: "workspace_member_removed", ...about(owner, owner), detail: { role: "owner" } },
    ]);
  });

  it("delete: not while it has sessions, then it is gone with its members and devices", async () => {
    await add(member);
    const device = await ask(owner, "createVirtualDevice", {}, { workspace_id: id });
    const sessionId = await addSession();
    expect(await codeOf(remove(member))).toBe("forbidden");
    expect(await codeOf(remove(owner))).toBe("conflict");
    await fixture.pool.query(sql.unsafe`
      update sessions set status = 'deleted' where id = ${sessionId}`);
    const ended: string[] = [];
    const stop = fixture.revocations.subscribe((event) => {
      if (event.kind === "device") ended.push(event.deviceId);
      if (event.kind === "workspace_member") ended.push(event.userId);
    });
    await remove(owner);
    stop();
    expect(ended.toSorted()).toEqual([String(device.device_id), owner.id, member.id].toSorted());
    for (const route of ["getWorkspace", "removeWorkspace", "listWorkspaceMembers"]) {
      expect(await codeOf(ask(owner, route, { id })), route).toBe("not_found");
    }
    const admin = await person("admin");
    expect(await codeOf(ask(admin, "getWorkspace", { id }))).toBe("not_found");
    expect(await codeOf(fixture.asDevice(String(device.api_key)))).toBe("invalid_api_key");
    const rows = await fixture.pool.query(sql.unsafe`
      select 1 from sessions join workspaces w on w.id = workspace_id
      where sessions.id = ${sessionId} and w.deleted_at is not null`);
    expect(rows.rowCount).toBe(1);
    expect((await audited()).at(-1)).toEqual({
      kind: "workspace_deleted",
      actor_id: owner.id,
      subject_id: id,
      detail: { members: 2, devices: 1 },
    });
  });

  it("delete: of a start and a delete at once, one wins", async () => {
    const sessions = new PostgresDeviceSessions(fixture.pool, OTHER_TABLES);
    for (let round = 0; round < 5; round += 1) {
      id = await fixture.addWorkspace(owner.id);
      const made = await ask(owner, "createVirtualDevice", {}, { workspace_id: id });
      const start = sessions.start({
        id: newId(),
        jobId: newId(),
        workspaceId: id,
        ownerId: owner.id,
        deviceId: String(made.device_id),
        title: "",
        language: "en",
        vocabulary: [],
        workshopId: undefined,
      });
      const codes = await Promise.all([codeOf(start), codeOf(remove(owner))]);
      expect([
        ["none", "conflict"],
        ["not_found", "none"],
      ]).toContainEqual(codes);
    }
  });

  async function addSession(): Promise<string> {
    const sessionId = newId();
    await fixture.pool.query(sql.unsafe`
      insert into sessions (id, workspace_id, owner_id, job_id, status)
      values (${sessionId}, ${id}, ${owner.id}, ${newId()}, 'completed')`);
    return sessionId;
  }
});
