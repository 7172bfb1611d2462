import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { AUDIT_KINDS } from "../../src/access/audit-entry.ts";
import { newId } from "../../src/base/ids.ts";
import type { MailMessage } from "../../src/tenancy/accounts/mail.ts";
import { PASSWORD } from "../support/account-fixture.ts";
import { HttpFixture } from "../support/http-fixture.ts";

type Body = Record<string, unknown>;
type Person = { id: string; email: string; token: string };

const REASON = "Complaint 4711 about a missing colleague";

describe("an administrator who wants to read without a reason on record", () => {
  let fixture: HttpFixture;
  let admin: Person;
  let owner: Person;
  let workspaceId: string;
  let sessionId: string;
  const letters: MailMessage[] = [];

  beforeAll(async () => {
    fixture = await HttpFixture.open();
    fixture.accounts.mail = {
      send: async (letter) => {
        letters.push(letter);
      },
    };
  });
  afterAll(() => fixture.close());
  beforeEach(async () => {
    admin = await person("admin");
    owner = await person("participant");
    workspaceId = await fixture.accounts.addWorkspace(owner.id);
    sessionId = await fixture.accounts.addSession(owner.id, workspaceId);
    letters.length = 0;
  });

  async function person(role: "admin" | "participant" | "moderator"): Promise<Person> {
    const { id, email } = await fixture.accounts.addUser(role);
    return { id, email, token: await fixture.signIn(email) };
  }

  /** An account that the administrator makes, with a password that he knows. */
  async function puppet(role: "participant" | "moderator"): Promise<Person> {
    const email = `${newId()}@example.org`;
    const body = { email, role, password: PASSWORD, name: "Nobody" };
    const made = await ask(admin, "POST", "/users", body);
    expect(made.status).toBe(201);
    return { id: String(made.body.id), email, token: await fixture.signIn(email) };
  }

  async function ask({ token }: Person, method: string, path: string, body?: Body) {
    const options = body === undefined ? { bearer: token } : { bearer: token, body };
    const answer = await fixture.call(method, path, options);
    return { ...answer, code: answer.headers.get("x-error-code") ?? "none" };
  }

  const reads = async (who: Person) =>
    (await ask(who, "GET", `/sessions/${sessionId}/transcript`)).status;
  const members = () => `/workspaces/${workspaceId}/members`;
  const elevate = async (body: Body = {}) => {
    const made = await ask(admin, "POST", "/admin/content-elevate", { reason: REASON, ...body });
    expect(made.status).toBe(200);
    return made.body;
  };

  async function audited(kind: string): Promise<Body[]> {
    expect(AUDIT_KINDS).toContain(kind);
    const query = `/admin/audit?kind=${kind}&actor_id=${admin.id}`;
    return (await ask(admin, "GET", query)).body.items as Body[];
  }

  /** Everybody to whom the administrator's gift was told. */
  async function told(): Promise<string[]> {
    await fixture.accounts.ownersTold.idle();
    return letters.filter(({ text }) => text.includes(REASON)).map(({ to }) => to);
  }

  it("adds no account of his own making to a workspace, by id or by address", async () => {
    const other = await puppet("moderator");
    for (const body of [{ user_id: other.id }, { email: other.email }, { user_id: newId() }]) {
      const added = await ask(admin, "POST", members(), body);
      expect([added.status, added.code]).toEqual([403, "elevation_required"]);
    }
    expect(await reads(other)).toBe(403);
  });

  it("adds no account of his own making to a session", async () => {
    const other = await puppet("participant");
    const path = `/sessions/${sessionId}/members`;
    for (const body of [{ user_id: other.id }, { email: other.email }]) {
      const added = await ask(admin, "POST", path, body);
      expect([added.status, added.code]).toEqual([403, "elevation_required"]);
    }
    expect(await reads(other)).toBe(403);
  });

  it("opens no workspace to guests, to come in as one of them", async () => {
    const path = `/workspaces/${workspaceId}`;
    const shut = await ask(owner, "PATCH", path, { default_guest_access: "closed" });
    expect(shut.status).toBe(200);
    const enter = async () =>
      (
        await fixture.call("POST", "/auth/guest", {
          body: { session_id: sessionId, display_name: "Nobody" },
        })
      ).status;
    expect(await enter()).toBe(403);
    for (const access of ["open", "invitation", null]) {
      const opened = await ask(admin, "PATCH", path, { default_guest_access: access });
      expect([opened.status, opened.code]).toEqual([403, "elevation_required"]);
    }
    expect(await enter()).toBe(403);
    // What else there is to change stays his, and so does closing it.
    const closing = { name: "Renamed", default_guest_access: "closed" };
    expect((await ask(admin, "PATCH", path, closing)).status).toBe(200);
    const { elevation_id } = await elevate({ workspace_id: workspaceId });
    const opened = await ask(admin, "PATCH", path, { default_guest_access: "open" });
    expect(opened.status).toBe(200);
    expect(await enter()).toBe(201);
    expect(await audited("guest_access_changed")).toMatchObject([
      { detail: { before: "closed", after: "open", elevation_id, reason: REASON } },
    ]);
    expect(await told()).toEqual([owner.email]);
  });

  it("makes no member an owner, who could mint keys for him", async () => {
    const member = await person("participant");
    await fixture.accounts.join(workspaceId, member.id);
    const path = `${members()}/${member.id}`;
    const raised = await ask(admin, "PATCH", path, { role: "owner" });
    expect([raised.status, raised.code]).toEqual([403, "elevation_required"]);
    const key = { workspace_id: workspaceId, name: "Mine", scopes: ["sessions:read"] };
    expect((await ask(member, "POST", "/api-keys", key)).status).toBe(403);
  });

  it("makes no member a moderator, who reads every session of the workspace", async () => {
    const member = await person("participant");
    await fixture.accounts.join(workspaceId, member.id);
    const raised = await ask(admin, "PATCH", `/users/${member.id}`, { role: "moderator" });
    expect([raised.status, raised.code]).toEqual([403, "elevation_required"]);
    for (const narrow of [{ session_id: sessionId }, { workspace_id: workspaceId }]) {
      await elevate(narrow);
      const again = await ask(admin, "PATCH", `/users/${member.id}`, { role: "moderator" });
      expect(again.code).toBe("elevation_required");
    }
    expect(await reads(member)).toBe(403);
  });

  it("demotes himself to moderator in vain, where he is a member or an owner", async () => {
    await person("admin");
    await fixture.accounts.join(workspaceId, admin.id);
    const step = () => ask(admin, "PATCH", `/users/${admin.id}`, { role: "moderator" });
    expect((await step()).code).toBe("elevation_required");
    expect(await reads(admin)).toBe(403);
    await ask(owner, "PATCH", `${members()}/${admin.id}`, { role: "owner" });
    expect((await step()).code).toBe("elevation_required");
    const down = await ask(admin, "PATCH", `/users/${admin.id}`, { role: "participant" });
    expect(down.status).toBe(200);
    expect(await reads(admin)).toBe(403);
  });

  it("is let in by nobody but others, whatever elevation he has", async () => {
    await elevate();
    for (const body of [{ user_id: admin.id }, { user_id: admin.id, role: "owner" }]) {
      expect((await ask(admin, "POST", members(), body)).code).toBe("forbidden");
    }
    const own = await ask(admin, "POST", `/sessions/${sessionId}/members`, { user_id: admin.id });
    expect(own.code).toBe("forbidden");
    await fixture.accounts.join(workspaceId, admin.id);
    const raised = await ask(admin, "PATCH", `${members()}/${admin.id}`, { role: "owner" });
    expect(raised.code).toBe("forbidden");
  });

  it("under an elevation gives membership with the reason on record, and the owner is told", async () => {
    const member = await person("participant");
    await fixture.accounts.join(workspaceId, member.id);
    await ask(admin, "PATCH", `/users/${member.id}`, { name: "Mia" });
    const { elevation_id, workspace_id } = await elevate({ workspace_id: workspaceId });
    expect(workspace_id).toBe(workspaceId);
    const raised = await ask(admin, "PATCH", `${members()}/${member.id}`, { role: "owner" });
    expect(raised.status).toBe(200);
    expect(await audited("workspace_role_changed")).toMatchObject([
      { subject_id: member.id, detail: { after: "owner", elevation_id, reason: REASON } },
    ]);
    expect(await told()).toEqual([owner.email]);
  });

  it("under an elevation of all sessions makes a moderator, with the reason on record", async () => {
    const member = await person("participant");
    await fixture.accounts.join(workspaceId, member.id);
    const { elevation_id } = await elevate();
    const raised = await ask(admin, "PATCH", `/users/${member.id}`, { role: "moderator" });
    expect(raised.status).toBe(200);
    expect(await audited("user_role_changed")).toMatchObject([
      { subject_id: member.id, detail: { to: "moderator", elevation_id, reason: REASON } },
    ]);
    expect(await told()).toEqual([owner.email]);
  });

  it("an elevation of another workspace or of one session opens no membership of this one", async () => {
    const other = await fixture.accounts.addWorkspace(owner.id);
    await elevate({ workspace_id: other });
    await elevate({ session_id: sessionId });
    const member = await person("participant");
    await fixture.accounts.join(workspaceId, member.id);
    const added = await ask(admin, "POST", members(), { user_id: member.id });
    expect(added.code).toBe("elevation_required");
    const unknown = { reason: REASON, workspace_id: newId() };
    expect((await ask(admin, "POST", "/admin/content-elevate", unknown)).status).toBe(404);
    const both = { reason: REASON, workspace_id: other, session_id: sessionId };
    expect((await ask(admin, "POST", "/admin/content-elevate", both)).status).toBe(400);
  });

  it("an elevation of a workspace opens its sessions, each read on record, and no others", async () => {
    const elsewhere = await fixture.accounts.addWorkspace(owner.id);
    const foreign = await fixture.accounts.addSession(owner.id, elsewhere);
    const { elevation_id } = await elevate({ workspace_id: workspaceId });
    expect(await reads(admin)).toBe(200);
    expect((await ask(admin, "GET", `/sessions/${foreign}/transcript`)).code).toBe(
      "elevation_required",
    );
    expect(await audited("content_read")).toMatchObject([
      { session_id: sessionId, subject_id: elevation_id },
    ]);
    await ask(admin, "DELETE", `/admin/content-elevate/${elevation_id}`);
    expect(await reads(admin)).toBe(403);
  });

  it("gives nothing as a plain member either, which is no right to give", async () => {
    await fixture.accounts.join(workspaceId, admin.id);
    const other = await puppet("moderator");
    const added = await ask(admin, "POST", members(), { user_id: other.id });
    expect([added.status, added.code]).toEqual([403, "elevation_required"]);
  });

  it("under an elevation of a session invites to it with the reason on record, and the owner is told", async () => {
    const other = await puppet("participant");
    const path = `/sessions/${sessionId}/members`;
    const { elevation_id } = await elevate({ session_id: sessionId });
    const invited = await ask(admin, "POST", path, { user_id: other.id });
    const { link, ...rest } = invited.body;
    expect([invited.status, rest]).toEqual([202, { status: "invited", is_mailed: true }]);
    expect(link).toMatch(/\/#\/invitations$/);
    expect(await reads(other)).toBe(403);
    expect(await audited("session_member_invited")).toMatchObject([
      { session_id: sessionId, detail: { role: "shared", elevation_id, reason: REASON } },
    ]);
    expect(await told()).toEqual([owner.email]);
    const { items } = (await ask(other, "GET", "/invitations")).body;
    const [{ id }] = items as [Body];
    expect((await ask(other, "POST", `/invitations/${id}/accept`)).status).toBe(200);
    expect(await reads(other)).toBe(200);
    await ask(admin, "DELETE", `/admin/content-elevate/${elevation_id}`);
    expect((await ask(admin, "DELETE", `${path}/${other.id}`)).status).toBe(200);
    expect(await reads(other)).toBe(403);
  });

  it("accepts no invitation in another's name, with an account of the invited address", async () => {
    const email = `${newId()}@example.org`;
    await ask(owner, "POST", `/sessions/${sessionId}/members`, { email });
    const made = await ask(admin, "POST", "/users", { email, password: PASSWORD, name: "Anna" });
    expect(made.status).toBe(201);
    const anna = { id: String(made.body.id), email, token: await fixture.signIn(email) };
    expect((await ask(anna, "GET", "/invitations")).body.items).toEqual([]);
    const pending = await ask(owner, "GET", `/sessions/${sessionId}/invitations`);
    const [{ id }] = pending.body.items as [Body];
    expect((await ask(anna, "POST", `/invitations/${id}/accept`)).status).toBe(404);
    expect(await reads(anna)).toBe(403);
  });

  it("takes membership away without an elevation: that opens nothing", async () => {
    const member = await person("participant");
    await fixture.accounts.join(workspaceId, member.id);
    expect((await ask(admin, "DELETE", `${members()}/${member.id}`)).status).toBe(200);
  });
});
