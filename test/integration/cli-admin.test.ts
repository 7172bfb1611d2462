import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { AttackedService, type Person } from "../support/attacked-service.ts";
import { type EndedRun, runVoice } from "../support/voice-run.ts";

describe("voice admin", () => {
  let service: AttackedService;
  let folder: string;
  let admin: Person;
  let owner: Person;
  let sessionId: string;

  beforeAll(async () => {
    service = await AttackedService.open();
    folder = mkdtempSync(join(tmpdir(), "voice-cli-"));
    admin = await service.addUser("admin");
    owner = await service.addUser();
    const workspaceId = await service.addWorkspace(owner.id);
    sessionId = await service.addTold(workspaceId, owner.id, [
      { label: "S1", text: "secret word" },
    ]);
    await service.sql(
      `insert into jobs (id, kind, session_id, workspace_id, status, progress)
       select job_id, 'transcription', id, workspace_id, 'completed', 1 from sessions`,
    );
  });
  afterAll(async () => {
    rmSync(folder, { recursive: true });
    await service.close();
  });

  function voice(person: Person, ...args: string[]): Promise<EndedRun> {
    const token = person.headers.authorization?.split(" ")[1] ?? "";
    const url = service.api.replace(/\/api$/, "");
    return runVoice([...args, "--base-url", url, "--token", token], { folder });
  }

  it("shows a job's words only for a reason, for that one look, and the log keeps it", async () => {
    const listed = await voice(admin, "admin", "jobs", "list", "--session", sessionId, "--json");
    const id = String(listed.json[0]?.id);
    const closed = await voice(admin, "admin", "jobs", "show", id);
    expect(closed.stdout).toContain("The words are closed to administrators: --reason opens them");
    expect(closed.stdout).not.toContain("secret");
    const opened = await voice(admin, "admin", "jobs", "show", id, "--reason", "Ticket 4711");
    expect(opened.stdout).toMatch(/^00:00 {2}S1 {2}secret word$/m);
    const after = await voice(admin, "admin", "jobs", "show", id, "--json");
    expect(after.json).toMatchObject([{ content_visible: false, elevation_required: true }]);
    const log = await service.call("GET", "/admin/audit", admin.headers);
    expect(log.text).toContain("Ticket 4711");
    const verified = await voice(admin, "admin", "audit", "verify");
    expect(verified.stdout).toMatch(/^The audit log is whole: \d+ entries\.\nHead: /);
  });

  it("elevates for a while, and ends it", async () => {
    const args = ["admin", "elevate", "--session", sessionId, "--reason", "Ticket 4712"];
    const [elevation] = (await voice(admin, ...args, "--minutes", "5", "--json")).json;
    expect((await voice(admin, "export", sessionId, "--raw")).stdout).toContain("secret word");
    const ended = await voice(admin, "admin", "elevate", "--end", String(elevation?.elevation_id));
    expect(ended.code).toBe(0);
    const closed = await voice(admin, "export", sessionId);
    expect([closed.code, closed.stdout]).toEqual([3, ""]);
    expect(await (await voice(admin, "admin", "elevate")).code).toBe(2);
  });

  it("lists users, and disables and enables one after a yes", async () => {
    const found = await voice(admin, "admin", "users", "list", "--search", owner.email, "--json");
    expect(found.json).toMatchObject([{ id: owner.id, disabled: false }]);
    expect(await (await voice(admin, "admin", "users", "disable", owner.id)).code).toBe(1);
    expect(await (await voice(admin, "admin", "users", "disable", owner.id, "--yes")).code).toBe(0);
    const { lines } = await voice(admin, "admin", "users", "list", "--disabled");
    expect(lines).toHaveLength(2);
    expect(lines[1]).toMatch(new RegExp(`^${owner.id} +participant +disabled`));
    expect(await (await voice(admin, "admin", "users", "enable", owner.id)).code).toBe(0);
    expect((await voice(admin, "admin", "users", "list", "--disabled")).stdout).toBe("Nobody.\n");
  });

  it("is nothing for others", async () => {
    const other = await service.addUser();
    for (const args of [["jobs"], ["elevate", "--reason", "x"], ["audit", "verify"]]) {
      const run = await voice(other, "admin", ...args);
      expect([run.code, run.stdout]).toEqual([3, ""]);
    }
  });
});
