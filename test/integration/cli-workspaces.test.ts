import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { AttackedService, type Headers, type Person } from "../support/attacked-service.ts";
import { voiceOutput } from "../support/voice-run.ts";

describe("voice workspaces", () => {
  let service: AttackedService;
  let folder: string;
  let owner: Person;
  let member: Person;
  let id: string;

  beforeAll(async () => {
    const env = { MAX_DEVICES_PER_WORKSPACE: "5", MAX_WEBHOOKS_PER_WORKSPACE: "0" };
    service = await AttackedService.open(env);
    folder = mkdtempSync(join(tmpdir(), "voice-cli-"));
    owner = await service.addUser();
    member = await service.addUser();
    id = await service.addWorkspace(owner.id);
    await service.join(id, member.id, "member");
    await service.done("POST", "/devices", owner.headers, { workspace_id: id });
  });
  afterAll(async () => {
    rmSync(folder, { recursive: true });
    await service.close();
  });

  function voice({ authorization = "" }: Headers, ...args: string[]): Promise<string> {
    const [, token = ""] = authorization.split(" ");
    const url = service.api.replace(/\/api$/, "");
    const connection = ["--base-url", url, "--token", token];
    return voiceOutput(["workspaces", ...args, ...connection], { folder });
  }

  it("lists one's own, and shows who manages one what it uses", async () => {
    expect(await voice(owner.headers)).toBe(`${id}  W\n`);
    const lines = (await voice(owner.headers, "show", id)).split("\n");
    expect(lines).toContain("devices         1, at most 5");
    expect(lines).toContain("webhooks        0, any number");
    expect(lines).toContain("bytes of audio  0, at most 1,099,511,627,776");
    const json = JSON.parse(await voice(owner.headers, "show", id, "--json"));
    expect(json).toMatchObject({ id, usage: { devices: { used: 1, most: 5 } } });
    expect(await voice(member.headers, "show", id)).toContain("owners and administrators");
  });
});
