import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { HttpFixture } from "../support/http-fixture.ts";

describe("a service key that tries to give rights away", () => {
  let fixture: HttpFixture;
  let owner: { id: string; token: string };
  let stranger: { id: string; token: string };
  let workspaceId: string;
  let sessionId: string;

  beforeAll(async () => {
    fixture = await HttpFixture.open();
    owner = await person();
    stranger = await person();
    workspaceId = await fixture.accounts.addWorkspace(owner.id);
    sessionId = await fixture.accounts.addSession(owner.id, workspaceId);
  });

  afterAll(() => fixture.close());

  async function person() {
    const { id, email } = await fixture.accounts.addUser("participant");
    return { id, token: await fixture.signIn(email) };
  }

  async function keyOf(...scopes: string[]): Promise<string> {
    const body = { workspace_id: workspaceId, name: "Ingest", scopes };
    const made = await fixture.call("POST", "/api-keys", { bearer: owner.token, body });
    expect(made.status).toBe(201);
    return String(made.body.key);
  }

  const others = ["sessions:read", "sessions:write", "query", "export", "webhooks", "transcribe"];

  it("all other scopes together add no member, and remove none", async () => {
    const key = await keyOf(...others);
    const path = `/sessions/${sessionId}/members`;
    const added = await fixture.call("POST", path, { key, body: { user_id: stranger.id } });
    expect(added.status).toBe(403);
    expect(added.body.message).toBe("This key lacks the scope sessions:share.");
    expect((await fixture.call("DELETE", `${path}/${owner.id}`, { key })).status).toBe(403);
    const reads = `/sessions/${sessionId}/transcript`;
    expect((await fixture.call("GET", reads, { bearer: stranger.token })).status).toBe(403);
  });

  it.each([
    { visibility: "workspace" },
    { visibility: "private" },
    { guest_access: "open" },
    { guest_access: "closed" },
    { title: "Quarterly", visibility: "workspace" },
    { title: "Quarterly", guest_access: "open" },
  ])("all other scopes together cannot PATCH %j, and change nothing of it", async (body) => {
    const key = await keyOf(...others);
    const path = `/sessions/${sessionId}`;
    const before = await fixture.call("GET", path, { bearer: owner.token });
    const refused = await fixture.call("PATCH", path, { key, body });
    expect(refused.status).toBe(403);
    expect(refused.body.message).toBe("This key lacks the scope sessions:share.");
    expect((await fixture.call("GET", path, { bearer: owner.token })).body).toEqual(before.body);
  });

  it("sessions:share shares, and neither edits nor reads", async () => {
    const key = await keyOf("sessions:share");
    const path = `/sessions/${sessionId}`;
    const shared = await fixture.call("PATCH", path, { key, body: { visibility: "workspace" } });
    expect(shared.status).toBe(200);
    for (const body of [{ title: "T" }, { title: "T", visibility: "private" }]) {
      const edited = await fixture.call("PATCH", path, { key, body });
      expect([edited.status, edited.body.message]).toEqual([
        403,
        "This key lacks the scope sessions:write.",
      ]);
    }
    expect((await fixture.call("GET", `${path}/transcript`, { key })).status).toBe(403);
  });
});
