import { sql } from "slonik";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { newId } from "../../src/base/ids.ts";
import { AccountErasureStore } from "../../src/conversations/erasure/account-erasure-store.ts";
import { PostgresSessionDeletion } from "../../src/conversations/erasure/session-erasure-store.ts";
import { ACCOUNT_ENDINGS, DELETION_PARTS, OTHER_TABLES } from "../../src/roles/other-tables.ts";
import type { MailMessage } from "../../src/tenancy/accounts/mail.ts";
import { InvitationStore } from "../../src/tenancy/workspaces/invitations/store.ts";
import { WorkspaceEditStore } from "../../src/tenancy/workspaces/store.ts";
import { HttpFixture } from "../support/http-fixture.ts";

type Body = Record<string, unknown>;
type Person = { id: string; email: string; token: string };

describe("invitations", () => {
  let fixture: HttpFixture;
  let owner: Person;
  let guest: Person;
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
    owner = await person();
    guest = await person();
    workspaceId = await fixture.accounts.addWorkspace(owner.id);
    sessionId = await fixture.accounts.addSession(owner.id, workspaceId);
    letters.length = 0;
  });

  async function person(role: "admin" | "participant" = "participant"): Promise<Person> {
    const { id, email } = await fixture.accounts.addUser(role);
    return { id, email, token: await fixture.signIn(email) };
  }

  async function ask({ token }: Person, method: string, path: string, body?: Body) {
    const options = body === undefined ? { bearer: token } : { bearer: token, body };
    return fixture.call(method, path, options);
  }

  const run = (statement: ReturnType<typeof sql.unsafe>) => fixture.accounts.pool.query(statement);
  const toWorkspace = (body: Body, by = owner) =>
    ask(by, "POST", `/workspaces/${workspaceId}/members`, body);
  const toSession = (body: Body, by = owner) =>
    ask(by, "POST", `/sessions/${sessionId}/members`, body);
  const list = async (who: Person) =>
    (await ask(who, "GET", "/invitations")).body.items as ({ id: string } & Body)[];
  const answer = async (who: Person, deed: "accept" | "decline", id: string) =>
    (await ask(who, "POST", `/invitations/${id}/${deed}`)).status;
  const enters = async (who: Person, path: string) => (await ask(who, "GET", path)).status === 200;

  /** Signs in by a mailed link, which shows whose the address is. */
  async function verify({ email }: Person): Promise<void> {
    await ask(owner, "POST", "/auth/request-magic-link", { email });
    await fixture.accounts.background.idle();
    const link = letters.findLast(({ to, text }) => to === email && text.includes("token="));
    const token = /token=(\w+)/.exec(link?.text ?? "")?.[1];
    const used = await ask(owner, "POST", "/auth/validate-magic-link", { token });
    expect(used.status).toBe(200);
  }

  it("by address: are there once the address is shown to be the account's, and open the place", async () => {
    expect((await toWorkspace({ email: guest.email.toUpperCase(), role: "owner" })).status).toBe(
      202,
    );
    expect((await toSession({ email: guest.email, relation: "participant" })).status).toBe(202);
    // Whoever typed the address into the account, an administrator too, has shown nothing.
    expect(await list(guest)).toEqual([]);
    await verify(guest);
    const found = await list(guest);
    expect(found).toMatchObject([
      { kind: "session", role: "participant", invited_by: { name: "Somebody" } },
      { kind: "workspace", role: "owner", workspace_name: "Team" },
    ]);
    expect(JSON.stringify(found[0])).not.toContain(sessionId);
    expect(await enters(guest, `/sessions/${sessionId}`)).toBe(false);
    const [session, workspace] = found;
    const accepted = await ask(guest, "POST", `/invitations/${session?.id}/accept`);
    expect(accepted.body).toMatchObject({ success: true, session_id: sessionId });
    expect(await enters(guest, `/sessions/${sessionId}/transcript`)).toBe(true);
    expect(await answer(guest, "accept", workspace?.id ?? "")).toBe(200);
    expect(await enters(guest, `/workspaces/${workspaceId}`)).toBe(true);
    expect(await answer(guest, "accept", workspace?.id ?? "")).toBe(404);
    expect(await list(guest)).toEqual([]);
    const { rows } = await run(sql.unsafe`
      select kind, actor_id, subject_id, detail from audit_log
      where workspace_id = ${workspaceId} and session_id is null order by seq`);
    expect(rows).toEqual([
      {
        kind: "workspace_member_invited",
        actor_id: owner.id,
        subject_id: workspace?.id,
        detail: { role: "owner" },
      },
      { kind: "invitation_accepted", actor_id: guest.id, subject_id: workspace?.id, detail: {} },
      {
        kind: "workspace_member_added",
        actor_id: guest.id,
        subject_id: guest.id,
        detail: { role: "owner", inviter_id: owner.id },
      },
    ]);
  });

  it("to a colleague's id are none: they are members at once; twice is a conflict", async () => {
    await fixture.accounts.join(workspaceId, guest.id);
    expect((await toSession({ user_id: guest.id })).status).toBe(201);
    expect((await toSession({ user_id: guest.id })).status).toBe(409);
    expect((await toWorkspace({ user_id: guest.id })).status).toBe(409);
    expect((await toWorkspace({})).status).toBe(400);
    expect((await toWorkspace({ user_id: "x" })).status).toBe(400);
    expect((await toWorkspace({ email: "İ@example.org" })).status).toBe(400);
  });

  it("count only while whoever made them may give what they offer", async () => {
    const inviter = await person();
    await fixture.accounts.join(workspaceId, inviter.id);
    const roleOf = (role: string) =>
      run(sql.unsafe`update workspace_members set role = ${role}
        where workspace_id = ${workspaceId} and user_id = ${inviter.id}`);
    const disabled = (on: boolean) =>
      run(sql.unsafe`update users set disabled_at = case when ${on} then now() end
        where id = ${inviter.id}`);
    await roleOf("owner");
    await toWorkspace({ user_id: guest.id }, inviter);
    const [invitation] = await list(guest);
    const id = invitation?.id ?? "";
    for (const end of [() => roleOf("member"), () => disabled(true)]) {
      await end();
      expect(await list(guest)).toEqual([]);
      expect(await answer(guest, "accept", id)).toBe(404);
      expect(await answer(guest, "decline", id)).toBe(404);
      await roleOf("owner");
      await disabled(false);
      expect(await list(guest)).toHaveLength(1);
    }
    await ask(owner, "DELETE", `/workspaces/${workspaceId}/members/${inviter.id}`);
    expect(await answer(guest, "accept", id)).toBe(404);
  });

  it("of a service key count while the key may share", async () => {
    const wish = { workspace_id: workspaceId, name: "Share", scopes: ["sessions:share"] };
    const made = await ask(owner, "POST", "/api-keys", wish);
    const key = String(made.body.key);
    const path = `/sessions/${sessionId}`;
    const body = { user_id: guest.id };
    expect((await fixture.call("POST", `${path}/members`, { key, body })).status).toBe(202);
    const pending = await fixture.call("GET", `${path}/invitations`, { key });
    expect(pending.body.items).toMatchObject([{ to_user_id: guest.id, invited_by: owner.id }]);
    expect(await list(guest)).toHaveLength(1);
    await ask(owner, "DELETE", `/api-keys/${made.body.id}`);
    expect(await list(guest)).toEqual([]);
  });

  it("of an administrator outlast his elevation, but not its end by hand, nor his role", async () => {
    const admin = await person("admin");
    const reason = "The owner left and asked us to invite the heir";
    const elevate = () => ask(admin, "POST", "/admin/content-elevate", { reason });
    const { elevation_id: first } = (await elevate()).body;
    expect((await toSession({ user_id: guest.id }, admin)).status).toBe(202);
    await run(
      sql.unsafe`update content_elevations set expires_at = now() where id = ${String(first)}`,
    );
    expect(await list(guest)).toHaveLength(1);
    await run(sql.unsafe`update users set role = 'participant' where id = ${admin.id}`);
    expect(await list(guest)).toEqual([]);
    await run(sql.unsafe`update users set role = 'admin' where id = ${admin.id}`);
    const { elevation_id: second } = (await elevate()).body;
    await toSession({ user_id: guest.id }, admin);
    expect(await list(guest)).toHaveLength(1);
    await ask(admin, "DELETE", `/admin/content-elevate/${second}`);
    expect(await list(guest)).toEqual([]);
    // Nor does an administrator invite himself.
    await elevate();
    await verify(admin);
    expect((await toWorkspace({ email: admin.email }, admin)).status).toBe(202);
    expect(await list(admin)).toEqual([]);
  });

  it("are listed and withdrawn by those who manage the place, and by nobody else", async () => {
    const path = `/workspaces/${workspaceId}/invitations`;
    await toWorkspace({ email: guest.email });
    await toWorkspace({ email: guest.email, role: "owner" });
    await fixture.accounts.join(workspaceId, guest.id);
    expect((await ask(guest, "GET", path)).status).toBe(403);
    const { items } = (await ask(owner, "GET", path)).body as { items: Body[] };
    expect(items).toMatchObject([{ to_email: guest.email, role: "owner", invited_by: owner.id }]);
    const one = `${path}/${items[0]?.id}`;
    expect((await ask(guest, "DELETE", one)).status).toBe(403);
    const elsewhere = await fixture.accounts.addWorkspace(owner.id);
    const wrong = `/workspaces/${elsewhere}/invitations/${items[0]?.id}`;
    expect((await ask(owner, "DELETE", wrong)).status).toBe(404);
    expect((await ask(owner, "DELETE", one)).status).toBe(200);
    expect((await ask(owner, "DELETE", one)).status).toBe(404);
    await verify(guest);
    expect(await list(guest)).toEqual([]);
  });

  it("end after 14 days, and are deleted then", async () => {
    const before = Date.now();
    await toWorkspace({ user_id: guest.id });
    const [invitation] = await list(guest);
    const days = (Date.parse(String(invitation?.expires_at)) - before) / 86_400_000;
    expect(Math.round(days)).toBe(14);
    await run(sql.unsafe`update invitations set expires_at = now()`);
    expect(await list(guest)).toEqual([]);
    expect(await answer(guest, "accept", invitation?.id ?? "")).toBe(404);
    const { body } = await ask(owner, "GET", `/workspaces/${workspaceId}/invitations`);
    expect(body.items).toEqual([]);
    const { done } = await new InvitationStore(fixture.accounts.pool, OTHER_TABLES).forget();
    expect(done).toBeGreaterThan(0);
    expect((await run(sql.unsafe`select id from invitations`)).rowCount).toBe(0);
  });

  it("are told by letters without a session's title, few to one address", async () => {
    const email = `${newId()}@example.org`;
    await run(sql.unsafe`update sessions set title = 'Redundancies' where id = ${sessionId}`);
    await run(sql.unsafe`update users set name = ${"Ada\nBcc: <b>all</b>"} where id = ${owner.id}`);
    for (const _each of [1, 2, 3]) {
      expect((await toSession({ email })).status).toBe(202);
      expect((await toWorkspace({ email })).status).toBe(202);
      await fixture.accounts.background.idle();
    }
    expect(letters).toHaveLength(3);
    const [session, workspace] = letters;
    expect(JSON.stringify(letters)).not.toContain("Redundancies");
    expect(session?.text).toContain(`Ada Bcc: <b>all</b> (${owner.email}) invites you`);
    expect(session?.html).not.toContain("<b>");
    expect(session?.text).not.toContain("Team");
    expect(workspace?.text).toContain("to the workspace “Team”");
    expect(workspace?.text).toContain("https://voice.test/#/invitations");
  });

  it("are limited for one inviter, whoever is invited", async () => {
    const codes = new Set<number>();
    for (let count = 0; count < 31; count += 1) {
      codes.add((await toWorkspace({ email: `${newId()}@example.org` })).status);
    }
    expect([...codes]).toEqual([202, 429]);
    expect((await toWorkspace({ email: guest.email })).status).toBe(429);
  });

  it("go with the account, the session, and the workspace", async () => {
    const left = async () =>
      (await run(sql.unsafe`select id from invitations where workspace_id = ${workspaceId}`))
        .rowCount;
    const { pool } = fixture.accounts;
    await verify(guest);
    const other = await person();
    await toSession({ email: guest.email });
    await toSession({ user_id: guest.id });
    await toWorkspace({ email: other.email });
    expect(await left()).toBe(3);
    await new AccountErasureStore(pool, ACCOUNT_ENDINGS).erase(guest.id);
    expect(await left()).toBe(1);
    await toSession({ email: other.email });
    await new PostgresSessionDeletion(pool, DELETION_PARTS).erase(
      sessionId,
      "session_deleted_by_owner",
      {
        kind: "user",
        id: owner.id,
      },
    );
    expect(await left()).toBe(1);
    await new WorkspaceEditStore(pool, OTHER_TABLES).remove(workspaceId, {
      kind: "user",
      id: owner.id,
    });
    expect(await left()).toBe(0);
  });
});
