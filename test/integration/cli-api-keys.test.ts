import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { AttackedService, type Headers, type Person } from "../support/attacked-service.ts";
import { runVoice } from "../support/voice-run.ts";

describe("voice api-keys", () => {
  let service: AttackedService;
  let folder: string;
  let owner: Person;
  let member: Person;
  let id: string;

  beforeAll(async () => {
    service = await AttackedService.open();
    folder = mkdtempSync(join(tmpdir(), "voice-cli-"));
    owner = await service.addUser();
    member = await service.addUser();
    id = await service.addWorkspace(owner.id);
    await service.join(id, member.id, "member");
  });
  afterAll(async () => {
    rmSync(folder, { recursive: true });
    await service.close();
  });

  function voice({ authorization = "" }: Headers, ...args: string[]) {
    const [, token = ""] = authorization.split(" ");
    const url = service.api.replace(/\/api$/, "");
    const connection = ["--base-url", url, "--token", token];
    return runVoice(["api-keys", ...args, ...connection], { folder });
  }
  const asOwner = (...args: string[]) => voice(owner.headers, ...args);

  it("makes a key whose text alone is its output, and shows it as it is used", async () => {
    expect((await asOwner("list")).stdout).toBe("You manage no key.\n");
    const made = await asOwner("create", id, "Archive", "--scope", "sessions:read", "export");
    expect(made.code).toBe(0);
    const key = made.stdout.trimEnd();
    expect(key).toMatch(/^vk_svc_\S{20,}$/);
    expect(made.stderr).toMatch(/this once.*\n.*sessions:read, export/);
    const api = { "x-api-key": key };
    expect(await service.done("GET", "/sessions", api)).toMatchObject({ items: [] });
    const { stdout } = await asOwner("list", "--workspace", id);
    expect(stdout).toMatch(
      /^\S{36} {2}vk_svc_\S+ {2}Archive {2}sessions:read, export {2}active, until /,
    );
    expect(stdout).not.toContain(key);
  });

  it("rotates and revokes: the new one works, and then none", async () => {
    const made = JSON.parse(
      (await asOwner("create", id, "P", "--scope", "query", "--json")).stdout,
    );
    const rotated = await asOwner("rotate", made.id);
    const key = rotated.stdout.trimEnd();
    expect(key).not.toBe(made.key);
    const get = (key: string) => service.call("GET", "/sessions", { "x-api-key": key });
    // The scope does not let it list: it is known, though.
    expect((await get(key)).status).toBe(403);
    const asked = await asOwner("revoke", made.id);
    expect([asked.code, asked.stderr]).toEqual([1, expect.stringContaining("--yes")]);
    expect((await asOwner("revoke", made.id, "--yes")).stdout).toContain("revoked");
    expect((await get(key)).status).toBe(401);
  });

  it("says what is wrong: an unknown scope, a time that is none, no right", async () => {
    const unknown = await asOwner("create", id, "P", "--scope", "sessions:all");
    expect([unknown.code, unknown.stderr]).toEqual([2, expect.stringContaining("sessions:read")]);
    const without = await asOwner("create", id, "P");
    expect([without.code, without.stderr]).toEqual([2, expect.stringContaining("--scope")]);
    const late = await asOwner("create", id, "P", "--scope", "query", "--expires", "soon");
    expect(late.code).not.toBe(0);
    const denied = await voice(member.headers, "create", id, "P", "--scope", "query");
    expect(denied.code).not.toBe(0);
    expect(denied.stderr).toMatch(/owner/);
  });
});
