import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { HttpFixture } from "../support/http-fixture.ts";
import { voiceOutput } from "../support/voice-run.ts";

const ESCAPE = "\u001b";

describe("voice invitations", () => {
  let fixture: HttpFixture;
  let folder: string;
  let token: string;
  let workspaceId: string;
  let sessionId: string;

  beforeAll(async () => {
    fixture = await HttpFixture.open();
    folder = mkdtempSync(join(tmpdir(), "voice-cli-"));
    const owner = await fixture.accounts.addUser();
    workspaceId = await fixture.accounts.addWorkspace(owner.id);
    sessionId = await fixture.accounts.addSession(owner.id, workspaceId);
    const guest = await fixture.accounts.addUser();
    token = await fixture.signIn(guest.email);
    await fixture.accounts.users.rename(owner.id, `Ada${ESCAPE}[2J`);
    const bearer = await fixture.signIn(owner.email);
    for (const place of [`/workspaces/${workspaceId}`, `/sessions/${sessionId}`]) {
      const body = { user_id: guest.id };
      expect((await fixture.call("POST", `${place}/members`, { bearer, body })).status).toBe(202);
    }
  });
  afterAll(async () => {
    rmSync(folder, { recursive: true });
    await fixture.close();
  });

  function voice(...args: string[]): Promise<string> {
    const connection = ["--base-url", fixture.url, "--token", token];
    return voiceOutput(["invitations", ...args, ...connection], { folder });
  }

  it("lists them, in one line each, accepts and declines", async () => {
    const lines = (await voice()).trimEnd().split("\n");
    expect(lines).toHaveLength(2);
    const [session = "", workspace = ""] = lines;
    expect(session).toMatch(/^[0-9a-f-]{36} {2}a session, as shared, by Ada/);
    expect(workspace).toMatch(/^[0-9a-f-]{36} {2}workspace Team, as member, by Ada/);
    expect(lines.join("")).not.toContain(ESCAPE);
    const [one] = (await voice("list", "--json")).split("\n");
    expect(JSON.parse(one ?? "")).toMatchObject({ kind: "session", role: "shared" });
    expect(await voice("decline", session.slice(0, 36))).toBe("The invitation is declined.\n");
    const accepted = JSON.parse(await voice("accept", workspace.slice(0, 36), "--json"));
    expect(accepted).toMatchObject({ success: true, workspace_id: workspaceId });
    expect(await voice()).toBe("There is no invitation to you.\n");
    await expect(voice("accept", session.slice(0, 36))).rejects.toMatchObject({
      code: 4,
      stderr: expect.stringContaining("There is no invitation with this id."),
    });
  });
});
