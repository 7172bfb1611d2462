import { sql } from "slonik";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { newId } from "../../src/base/ids.ts";
import type { Request } from "../../src/rest/route.ts";
import { OTHER_TABLES } from "../../src/roles/other-tables.ts";
import type { MailMessage } from "../../src/tenancy/accounts/mail.ts";
import { openedInvitationRoutes } from "../../src/tenancy/workspaces/invitations/opening.ts";
import { InvitationStore } from "../../src/tenancy/workspaces/invitations/store.ts";
import { HttpFixture } from "../support/http-fixture.ts";

type Person = { id: string; email: string; token: string };

describe("the link of an invitation's letter", () => {
  let fixture: HttpFixture;
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
    owner = await person();
    workspaceId = await fixture.accounts.addWorkspace(owner.id);
    sessionId = await fixture.accounts.addSession(owner.id, workspaceId);
    letters.length = 0;
  });

  async function person(): Promise<Person> {
    const { id, email } = await fixture.accounts.addUser("participant");
    return { id, email, token: await fixture.signIn(email) };
  }

  /** Invites to the session; returns the letter's text and the token of its link. */
  async function invite(email: string) {
    const path = `/sessions/${sessionId}/members`;
    const body = { email, relation: "participant" };
    const sent = await fixture.call("POST", path, { bearer: owner.token, body });
    expect([sent.status, sent.body.status, sent.body.is_mailed]).toEqual([202, "invited", true]);
    expect(sent.body.link).toBe("https://voice.test/#/invitations");
    await fixture.accounts.background.idle();
    const text = letters.at(-1)?.text ?? "";
    return { text, token: /token=(\w+)/.exec(text)?.[1] ?? "" };
  }

  const open = (token: string) =>
    fixture.call("POST", "/auth/open-invitation", { body: { token } });

  const invitationsOf = async (token: string) =>
    ((await fixture.call("GET", "/invitations", { bearer: token })).body.items as unknown[]).length;

  it("makes an account for exactly the address, once, whose invitation is there", async () => {
    const email = `${newId()}@new.example`;
    const { text, token } = await invite(email.toUpperCase());
    expect(text).toContain(`email=${encodeURIComponent(email)}`);
    expect(text).toContain(`https://voice.test/#/join/${sessionId}`);
    const opened = await open(token);
    expect([opened.status, opened.body.email]).toEqual([200, email]);
    const login = opened.body.login as { token: string; user: Record<string, string> };
    expect(login.user).toMatchObject({ email, role: "participant" });
    expect(await invitationsOf(login.token)).toBe(1);
    const audited = await fixture.accounts.pool.any(
      sql.unsafe`select kind, detail from audit_log where subject_id = ${login.user.id ?? ""}`,
    );
    expect(audited).toMatchObject([{ kind: "user_created", detail: { role: "participant" } }]);
    // From then on it is no way to sign in.
    const again = await open(token);
    expect([again.status, again.body]).toEqual([200, { email }]);
  });

  it("shows that the address is that of an account, which is not signed in", async () => {
    const guest = await person();
    const { token } = await invite(guest.email);
    expect(await invitationsOf(guest.token)).toBe(0);
    const opened = await open(token);
    expect([opened.status, opened.body]).toEqual([200, { email: guest.email }]);
    expect(await invitationsOf(guest.token)).toBe(1);
  });

  it("opens nothing once it is withdrawn, replaced or over, or its inviter may not give it", async () => {
    const email = `${newId()}@new.example`;
    const { token: replaced } = await invite(email);
    const { token } = await invite(email);
    for (const wrong of ["x", replaced]) {
      expect((await open(wrong)).status).toBe(401);
    }
    const path = `/sessions/${sessionId}/invitations`;
    const { body } = await fixture.call("GET", path, { bearer: owner.token });
    const [pending] = body.items as { id: string }[];
    await fixture.call("DELETE", `${path}/${pending?.id}`, { bearer: owner.token });
    expect((await open(token)).status).toBe(401);
    const { token: gone } = await invite(email);
    await fixture.accounts.pool.query(
      sql.unsafe`update users set disabled_at = now() where id = ${owner.id}`,
    );
    expect((await open(gone)).status).toBe(401);
  });

  it("makes no account where administrators make them, and says so", async () => {
    const email = `${newId()}@new.example`;
    const { token } = await invite(email);
    const { accounts } = fixture;
    const [route] = openedInvitationRoutes({
      ...{ store: new InvitationStore(accounts.pool, OTHER_TABLES), users: accounts.users },
      ...{ signIn: accounts.signIn, failures: { recordFailedSignIn: async () => {} } },
      signsUp: false,
    });
    const request = { body: { token }, address: "127.0.0.1" } as unknown as Request;
    await expect(route?.handle(request, undefined)).rejects.toMatchObject({ code: "forbidden" });
    expect(await accounts.users.findByEmail(email)).toBeUndefined();
  });
});
