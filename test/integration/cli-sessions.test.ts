import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { newId } from "../../src/base/ids.ts";
import { AttackedService, type Person } from "../support/attacked-service.ts";
import { type EndedRun, runVoice } from "../support/voice-run.ts";

const ESCAPE = "\u001b";

describe("cli sessions, export and search: against the service", () => {
  let service: AttackedService;
  let folder: string;
  let owner: Person;
  let stranger: Person;
  let workspaceId: string;
  let sessionId: string;

  beforeAll(async () => {
    service = await AttackedService.open();
    folder = mkdtempSync(join(tmpdir(), "voice-cli-"));
    owner = await service.addUser();
    stranger = await service.addUser();
    workspaceId = await service.addWorkspace(owner.id);
    const words = [
      { label: "S1", text: "we launch the system on friday" },
      { label: "S2", text: "the launch is late" },
    ];
    sessionId = await service.addTold(workspaceId, owner.id, words);
    await service.sql("update sessions set title = $2 where id = $1", [
      sessionId,
      `Plan${ESCAPE}[2J`,
    ]);
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

  it("lists by state and workspace, and never a stranger's control characters", async () => {
    const { stdout, stderr } = await voice(owner, "sessions");
    expect(stdout.split("\n")[0]).toMatch(/^SESSION +STATUS +STARTED +TITLE$/);
    expect(stdout).toMatch(new RegExp(`${sessionId} {2}completed {2}\\d{4}-.* Plan \\[2J\n`));
    expect(stdout + stderr).not.toContain(ESCAPE);
    const filters = ["--status", "completed", "--workspace", workspaceId, "--json"];
    expect((await voice(owner, "sessions", "list", ...filters)).json).toMatchObject([
      { id: sessionId, status: "completed" },
    ]);
    const none = await voice(owner, "sessions", "list", "--status", "recording", "--json");
    expect([none.stdout, none.code]).toEqual(["", 0]);
    expect((await voice(stranger, "sessions")).stdout).toMatch(/^No session\. `voice demo`/);
  });

  it("says that there are more than it shows", async () => {
    const other = await service.addTold(workspaceId, owner.id, [{ label: "S1", text: "good day" }]);
    const { lines, stderr } = await voice(owner, "sessions", "list", "--limit", "1", "--json");
    expect(lines).toHaveLength(1);
    expect(stderr).toBe("There are more than these 1; --limit shows them.\n");
    await service.done("DELETE", `/sessions/${other}`, owner.headers);
  });

  it("shows one with its speakers; `last` is the newest", async () => {
    const { stdout } = await voice(owner, "sessions", "show", "last");
    expect(stdout).toContain(`Session ${sessionId}\n`);
    expect(stdout).toContain("status     completed\n");
    expect(stdout).toMatch(/speakers\n {2}S1 {4}00:02\n {2}S2 {4}00:02\n/);
    const [json] = (await voice(owner, "sessions", "show", sessionId, "--json")).json;
    expect(json).toMatchObject({ id: sessionId, workspace_id: workspaceId });
    const nothing = await voice(stranger, "sessions", "show", "last");
    expect([nothing.code, nothing.stderr]).toEqual([4, "voice: there is no session yet\n"]);
    // An administrator lists everybody's, whose words are closed to them.
    const admin = await service.addUser("admin");
    const theirs = await voice(admin, "sessions", "show", "last");
    const none = "voice: there is no session of yours among the newest\n";
    expect([theirs.code, theirs.stderr]).toEqual([4, none]);
  });

  it("exports to standard output and to files, whose names tell the format", async () => {
    const text = await voice(owner, "export", "last", "--raw");
    expect(text.stdout).toMatch(/S1: we launch the system on friday\n.*S2: the launch is late\n$/s);
    const file = join(folder, "captions.srt");
    const written = await voice(owner, "export", sessionId, "-o", file);
    expect([written.code, written.stdout]).toEqual([0, ""]);
    expect(readFileSync(file, "utf8")).toMatch(/^1\n00:00:00,000 --> /);
    const json = await voice(owner, "export", "last", "--json", "--words", "-o", "-");
    expect(json.json).toMatchObject([{ session_id: sessionId, segments: [{ words: [] }, {}] }]);
  });

  it("exports over no file unasked, and leaves none half done", async () => {
    const file = join(folder, "mine.md");
    writeFileSync(file, "mine");
    const refused = await voice(owner, "export", "last", "-o", file);
    expect([refused.code, readFileSync(file, "utf8")]).toEqual([1, "mine"]);
    expect(refused.stderr).toBe(`voice: ${file} is there already; --force writes over it\n`);
    expect(await (await voice(owner, "export", "last", "-o", file, "--force")).code).toBe(0);
    expect(readFileSync(file, "utf8")).toContain("**Speaker 2** (00:03): the launch is late");
    const nowhere = join(folder, "none/x.txt");
    expect(await (await voice(owner, "export", "last", "-o", nowhere)).code).toBe(1);
    expect(existsSync(nowhere)).toBe(false);
  });

  it("finds words in all workspaces, by session, speaker and time", async () => {
    const second = await service.addWorkspace(owner.id);
    const there = await service.addTold(second, owner.id, [{ label: "S1", text: "launch again" }]);
    const all = (await voice(owner, "search", "launch", "--json")).json;
    expect(new Set(all.map((hit) => hit.session_id))).toEqual(new Set([sessionId, there]));
    const { stdout } = await voice(owner, "search", "launch", "--session", sessionId);
    expect(stdout).toContain("\n    we launch the system on friday\n");
    expect(stdout).toMatch(new RegExp(`^${sessionId} {2}00:03 {2}S2 {2}Plan \\[2J, \\d{4}-`, "m"));
    const one = await voice(owner, "search", "launch", "--speaker", "S2", "--json");
    expect(one.json).toMatchObject([{ text: "the launch is late" }]);
    expect((await voice(owner, "search", "launch", "--to", "2020-01-01")).stdout).toBe(
      "Nobody said that.\n",
    );
    expect((await voice(stranger, "search", "launch", "--json")).stdout).toBe("");
    await service.done("DELETE", `/sessions/${there}`, owner.headers);
  });

  it("renames, and deletes only after a yes", async () => {
    const { stdout } = await voice(owner, "sessions", "rename", sessionId, "New name");
    expect(stdout).toBe(`Session ${sessionId} is now "New name".\n`);
    const unasked = await voice(owner, "sessions", "delete", sessionId);
    expect([unasked.code, unasked.stderr]).toEqual([
      1,
      "voice: delete asks on a terminal; elsewhere give --yes\n",
    ]);
    const gone = await voice(owner, "sessions", "delete", sessionId, "--yes");
    expect(gone.stdout).toMatch(/ Receipt: [0-9a-f-]{36}\n$/);
    expect(await (await voice(owner, "sessions", "show", sessionId)).code).toBe(4);
  });

  it("stops what records, and says what is left of it", async () => {
    const body = { workspace_id: workspaceId };
    const { id } = await service.done("POST", "/sessions", owner.headers, body);
    const stopped = await voice(owner, "sessions", "stop", String(id), "--json");
    expect(stopped.json).toMatchObject([{ session_id: id, success: true }]);
  });

  it("tells by its exit code what is wrong", async () => {
    const nobody: Person = { ...owner, headers: { authorization: "Bearer x.y.z" } };
    const runs = await Promise.all([
      voice(owner, "sessions", "show", newId()),
      voice(stranger, "export", sessionId),
      voice(nobody, "sessions"),
      voice(owner, "sessions", "list", "--limit", "0"),
      voice(owner, "sessions", "list", "--status", "gone"),
      voice(owner, "search", "x", "--from", "yesterday"),
      voice(owner, "ask", "  "),
      voice(owner, "ask", "x", "--session", "last", "--workspace", workspaceId),
    ]);
    expect(await Promise.all(runs.map(({ code }) => code))).toEqual([4, 4, 3, 2, 2, 2, 2, 2]);
    for (const { stdout, stderr } of runs) {
      expect(stdout).toBe("");
      expect(stderr).toMatch(/^(voice|error): \S/);
    }
  });
});
