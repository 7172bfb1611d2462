import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { newId } from "../../src/base/ids.ts";
import { AttackedService, type Person } from "../support/attacked-service.ts";
import { until } from "../support/until.ts";
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

  it("compares stored audio, lists what is damaged, and fails then", async () => {
    const whole = await voice(admin, "admin", "audio", "verify");
    expect([whole.code, whole.stdout]).toEqual([
      0,
      "All stored audio is whole: 0 chunks, 0.0 MB.\n",
    ]);
    await service.sql(
      `insert into chunks (session_id, sequence, id, media_type, bytes, sha256, frames, sample_rate,
         duration_seconds)
       values ($1, 7, $2, 'audio/wav', 100, decode(repeat('ab', 32), 'hex'), 16000, 16000, 1)`,
      [sessionId, newId()],
    );
    const damaged = await voice(admin, "admin", "audio", "verify");
    expect([damaged.code, damaged.stdout]).toEqual([
      1,
      `${sessionId}  chunk 7  the file is gone\n`,
    ]);
    expect(damaged.stderr).toContain("1 damaged of 1 chunk, 0.0 MB");
    const one = await voice(admin, "admin", "audio", "verify", "--json", "--session", sessionId);
    expect(one.json).toEqual([{ session_id: sessionId, chunk_sequence: 7, kind: "gone" }]);
    const other = await voice(admin, "admin", "audio", "verify", "--session", newId());
    expect(other.code).toBe(0);
    expect((await voice(admin, "admin", "audio", "verify", "--session", "x")).code).toBe(1);
    const help = await voice(admin, "admin", "audio", "verify", "--help");
    expect(help.stdout).toContain("Exit code 1 when anything is damaged.");
    const check = async () =>
      JSON.parse((await service.call("GET", "/health", {})).text).checks.stored_audio;
    await until(async () => (await check()) !== undefined, "health to tell of it");
    expect(await check()).toMatchObject({
      status: "degraded",
      message: expect.stringContaining("(chunks: 1, sessions: 1; found in the last 7 days: 1)"),
    });
  });

  it("is nothing for others", async () => {
    const other = await service.addUser();
    for (const args of [
      ["jobs"],
      ["elevate", "--reason", "x"],
      ["audit", "verify"],
      ["audio", "verify"],
    ]) {
      const run = await voice(other, "admin", ...args);
      expect([run.code, run.stdout]).toEqual([3, ""]);
    }
  });
});
