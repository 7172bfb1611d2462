import { execFile } from "node:child_process";
import { copyFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { PARTITIONS } from "../../src/base/partition.ts";
import { MOONSHINE } from "../../src/wire/speech-engines.ts";
import { ApiClient } from "../support/api-client.ts";
import { AppFixture } from "../support/app-fixture.ts";
import { exampleRequests } from "../support/example-requests.ts";
import { seedWorld } from "../support/seeded-world.ts";
import { until } from "../support/until.ts";

/** Examples that are refused here for what is not said in them, with the reason. */
const EXPLAINED: Readonly<Record<string, string>> = {
  createWebhook: "its host has to exist, and this one must not",
};

describe("the document and the service", () => {
  let service: AppFixture;
  let client: ApiClient;

  beforeAll(async () => {
    service = await AppFixture.start({ RATE_LIMIT_FACTOR: "0" });
    client = await ApiClient.connect(service.api);
  });

  afterAll(() => service?.stop());

  it("get started: its lines work, one after the other", async () => {
    const { body } = await client.call<{ info: { description: string } }>("GET", "/openapi.json");
    const [, lines = ""] = /```sh\n(.*?)```/s.exec(body.info.description) ?? [];
    const { email, password } = service.ready.admin;
    const script = lines
      .replace(/^BASE=\S+/, `BASE=${service.api}`)
      .replace(/"email":.*?}/, `"email":"${email}","password":"${password}"}`);
    await copyFile("deploy/demo/conversation.wav", join(service.folder, "talk.wav"));
    const run = promisify(execFile)("sh", ["-ec", script], { cwd: service.folder });
    const said = (await run).stdout;
    expect(said).toContain('"chunk_sequence":0');
    expect(said).toContain('"status":"processing"');
    expect(said).toContain('"segments":');
    expect(said).not.toContain('"success":false');
  });

  it("examples: every one is well formed, and answered as declared", async () => {
    const world = await seedWorld(client, service.ready.admin);
    const document = (await client.call("GET", "/openapi.json")).body;
    const requests = exampleRequests(document, world);
    const malformed: string[] = [];
    let fulfilled = 0;
    for (const { operationId, method, path, callers, body } of requests) {
      for (const caller of callers) {
        const headers = { ...world.callers[caller] };
        const options = body === undefined ? { headers } : { headers, body };
        const { status, text } = await client.call(method, path, options);
        expect(status, `${method} ${path}: ${text}`).toBeLessThan(500);
        if ([400, 415].includes(status) && !(operationId in EXPLAINED))
          malformed.push(`${operationId}: ${text}`);
        if (status < 300) {
          fulfilled += 1;
          break;
        }
      }
    }
    expect(malformed).toEqual([]);
    // The rest names what is not there (a segment, a claim) or meets its state.
    expect(fulfilled).toBeGreaterThan(requests.length / 2);
  });

  it("overview: one node with every partition, one worker with room", async () => {
    const login = await client.call<{ token: string }>("POST", "/auth/login", {
      body: service.ready.admin,
    });
    const bearer = login.body.token;
    const overview = () => client.call("GET", "/admin/overview", { bearer });
    await until(async () => (await overview()).body.nodes !== undefined, "the leases");
    const { body } = await overview();
    const partitions = Array.from({ length: PARTITIONS }, (_, n) => n);
    expect(body).toMatchObject({
      nodes: [{ state: "alive", partitions }],
      workers: [{ state: "available", engines: ["scripted", MOONSHINE.name] }],
    });
    expect((await client.call("GET", "/admin/overview")).status).toBe(401);
  });
});
