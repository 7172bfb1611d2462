import { execFile } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { promisify } from "node:util";
import { beforeAll, describe, expect, inject, it } from "vitest";
import { ApiClient } from "../support/api-client.ts";
import { until } from "../support/until.ts";
import { WholeService } from "../support/whole-service.ts";

const run = promisify(execFile);
const CLI = resolve(import.meta.dirname, "../../src/cli/main.ts");

describe("identity of the running service", () => {
  let service: WholeService;
  let client: ApiClient;
  let token: string;

  beforeAll(async () => {
    service = WholeService.shared(inject("installation"));
    client = await ApiClient.connect(service.api);
    token = await signIn();
  });

  async function signIn(): Promise<string> {
    const { email, password } = service.ready.admin;
    const answer = await client.call("POST", "/auth/login", { body: { email, password } });
    expect(answer.status).toBe(200);
    return String(answer.body.token);
  }

  function kidOf(jwt: string): string {
    const [head = ""] = jwt.split(".");
    return JSON.parse(Buffer.from(head, "base64url").toString()).kid;
  }

  const me = async (bearer: string) => (await client.call("GET", "/auth/me", { bearer })).status;

  it("signing key: rotated by the command, taken up without a restart, in the audit log once", async () => {
    const { main } = service.ready.pids;
    const data = join(service.folder, "data");
    const args = [CLI, "keys", "rotate", "--at-once", "--data", data];
    const { kid } = JSON.parse((await run(process.execPath, args, { timeout: 60_000 })).stdout);
    const kids = async () => {
      const { body } = await client.call<{ keys: { kid: string }[] }>("GET", "/auth/jwks.json");
      return body.keys.map((key) => key.kid);
    };
    await until(async () => (await kids()).includes(kid), "the new key");
    expect(await kids()).toEqual([kidOf(token), kid]);
    const fresh = await signIn();
    expect(kidOf(fresh)).toBe(kid);
    expect([await me(token), await me(fresh)]).toEqual([200, 200]);
    const path = "/admin/audit?kind=signing_key_rotated";
    const audit = await client.call("GET", path, { bearer: token });
    expect((audit.body as { items: unknown[] }).items).toHaveLength(1);
    expect(service.ready.pids.main).toBe(main);
  });

  it("magic link: written to a file of the data folder, signs in once", async () => {
    const { email } = service.ready.admin;
    const asked = await client.call("POST", "/auth/request-magic-link", { body: { email } });
    expect(asked.status).toBe(200);
    const folder = join(service.folder, "data/mail");
    const read = (name: string) => readFileSync(join(folder, name), "utf8");
    const letters = () => {
      try {
        const names = readdirSync(folder).filter((name) => name.endsWith(".eml"));
        return names.map(read).filter((text) => text.includes(`\r\nTo: ${email}\r\n`));
      } catch {
        return [];
      }
    };
    await until(() => letters().length === 1, "the letter");
    // As a person copies it from the file.
    const [letter = ""] = letters();
    const [link = "", linkToken = ""] =
      /(\S+)\/#\/sign-in\?token=(\w{43})/.exec(letter)?.slice(1) ?? [];
    expect(link).toBe(service.ready.base_url);
    const validate = () =>
      client.call("POST", "/auth/validate-magic-link", { body: { token: linkToken } });
    const signedIn = await validate();
    expect(await me(String(signedIn.body.token))).toBe(200);
    expect((await validate()).status).toBe(401);
  });

  it("OAuth: nothing is offered where nothing is configured", async () => {
    const { body } = await client.call("GET", "/auth/oauth/providers");
    expect(body).toEqual({ items: [], next_cursor: null });
    expect((await client.call("GET", "/auth/oauth/google/authorize")).status).toBe(404);
  });
});
