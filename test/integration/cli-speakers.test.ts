import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Headers, Person } from "../support/attacked-service.ts";
import { halfOf } from "../support/demo-voices.ts";
import { until } from "../support/until.ts";
import { VoiceHouse } from "../support/voice-house.ts";
import { runVoice } from "../support/voice-run.ts";

describe("voice speakers", () => {
  let house: VoiceHouse;
  let folder: string;
  let owner: Person;
  let anna: Person;
  let first: string;
  let later: string;

  beforeAll(async () => {
    house = await VoiceHouse.open();
    const { service } = house;
    folder = mkdtempSync(join(tmpdir(), "voice-cli-"));
    owner = await service.addUser();
    anna = await service.addUser();
    await service.sql("update users set name = 'Anna' where id = $1", [anna.id]);
    const workspace = await service.addWorkspace(owner.id);
    await service.join(workspace, anna.id, "member");
    const sounds = [halfOf("Anna", 0), halfOf("Anna", 1)].map((sound) => ({ label: "S1", sound }));
    const ids = sounds.map((spoken) => house.addHeard(workspace, owner.id, [spoken]));
    [first = "", later = ""] = await Promise.all(ids);
    await service.sql("update sessions set visibility = 'workspace'");
  });
  afterAll(async () => {
    rmSync(folder, { recursive: true });
    await house.close();
  });

  const voice = async (headers: Headers, ...args: string[]) =>
    (await run(headers, "speakers", ...args)).stdout;

  async function run({ authorization = "" }: Headers, ...args: string[]) {
    const [, token = ""] = authorization.split(" ");
    const url = house.service.api.replace(/\/api$/, "");
    const connection = ["--base-url", url, "--token", token];
    const ended = await runVoice([...args, ...connection], { folder });
    if (ended.code !== 0) throw ended;
    return ended;
  }

  it("shows who spoke and whom voices sound like, claims, assigns, names, remembers and forgets", async () => {
    expect(await voice(owner.headers, first)).toMatch(/^S1 {4}00:\d\d\n$/);
    expect(await voice(owner.headers, "name", first, "S1", "The chair")).toBe("S1 is The chair.\n");
    expect(await voice(owner.headers, first)).toMatch(/^S1 {4}00:\d\d {2}The chair\n$/);
    expect(await voice(owner.headers, "name", first, "S1")).toBe("S1 has no name.\n");
    expect(await voice(anna.headers, "claim", first, "S1")).toBe("S1 is you.\n");
    const silent = voice(anna.headers, "remember", first, "S1");
    await expect(silent).rejects.toMatchObject({ code: 1, stderr: /biometric data/ });
    const alone = voice(anna.headers, "remember", first, "S1", "--consent");
    await expect(alone).rejects.toMatchObject({ code: 1, stderr: /Nobody but you says .* S1/ });
    expect(await voice(owner.headers, "assign", first, "S1", anna.id)).toBe(`S1 is ${anna.id}.\n`);
    const told = await voice(anna.headers, "remember", first, "S1", "--consent");
    expect(told).toMatch(
      /^Your voice is remembered in workspace .*, from \d\d s, as long as the session's sound is kept\.\n$/,
    );
    for (const { headers } of [owner, anna]) {
      expect(await voice(headers, first)).toMatch(
        /^S1 {4}00:\d\d {2}Anna, remembered since \d{4}-\d\d-\d\d\n$/,
      );
    }

    let shown = "";
    const isSuggested = async () => {
      shown = await voice(owner.headers, later);
      return shown.includes("sounds like");
    };
    await until(isSuggested, "the suggestion", 60_000);
    const [, suggestion = ""] = shown.split("\n");
    const [, command = ""] = /^S1 sounds like Anna \(\d\d\d? %\): voice speakers (.*)$/.exec(
      suggestion,
    ) ?? [suggestion];
    expect(command).toBe(`assign ${later} S1 ${anna.id}`);
    expect(await voice(anna.headers, later)).toContain(
      `S1 sounds like you (${/\d+ %/.exec(suggestion)?.[0]}): voice speakers claim ${later} S1`,
    );
    const tail = await run(owner.headers, "tail", later);
    expect(tail.stderr).toBe(`${suggestion}\n`);
    expect(tail.stdout).not.toContain("sounds like");
    expect(await voice(owner.headers, ...command.split(" "))).toBe(`S1 is ${anna.id}.\n`);
    expect(await voice(owner.headers, later)).toMatch(/^S1 {4}00:\d\d {2}Anna\n$/);
    const kept = ["remember", first, "S1", "--consent", "--keep-after-deletion"];
    expect(await voice(anna.headers, ...kept)).toContain(
      "also when the session's sound is deleted",
    );
    expect(await voice(owner.headers, "unclaim", first, "S1")).toBe("S1 is nobody's.\n");
    expect(await voice(owner.headers, first)).toMatch(/^S1 {4}00:\d\d\n/);
    await voice(owner.headers, "assign", first, "S1", anna.id);
    await voice(anna.headers, "remember", first, "S1", "--consent");
    const items = async () =>
      (await house.service.done("GET", "/users/me/voice", anna.headers)).items;
    expect(await items()).toHaveLength(1);
    await house.service.done("DELETE", `/sessions/${first}`, owner.headers);
    expect(await items(), "it does not outlive its session unasked").toEqual([]);
    expect(await voice(anna.headers, "forget")).toBe("Your voice is forgotten.\n");
    const json = await voice(owner.headers, later, "--json");
    expect(JSON.parse(json)).toMatchObject({ speaker_label: "S1", display_name: "Anna" });
  });
});
