import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { adminToken, call } from "../support/paired-device.ts";
import { until } from "../support/until.ts";
import { VoiceRun } from "../support/voice-run.ts";
import { WholeService } from "../support/whole-service.ts";

const PLACES = ["/sessions", "/devices?status=paired", "/workspaces"];

describe("doctor: a step that fails", () => {
  let service: WholeService;
  let folder: string;

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), "voice-cli-"));
    service = await WholeService.start();
  });
  afterAll(async () => {
    await service?.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  async function things(): Promise<string[]> {
    const token = await adminToken(service);
    const lists = await Promise.all(
      PLACES.map((path) => call<{ items: { id: string }[] }>(service.api, "GET", path, { token })),
    );
    return lists.flatMap(({ body }) => body.items.map(({ id }) => id));
  }

  const stepOf = ({ json }: VoiceRun, name: string) => json.find(({ step }) => step === name);

  it("is named, and nothing is left behind", async () => {
    const before = await things();
    const { base_url: url, admin } = service.ready;
    const env = { VOICE_EMAIL: admin.email, VOICE_PASSWORD: admin.password };
    const run = new VoiceRun(["doctor", "--base-url", url], { folder, env });
    await until(() => stepOf(run, "login") !== undefined, "the login", 60_000);
    service.signal("worker", "SIGSTOP");
    const code = await run.code;
    service.signal("worker", "SIGCONT");
    expect(code).toBe(1);
    expect(stepOf(run, "transcript")).toMatchObject({ ok: false });
    expect(stepOf(run, "cleanup")).toMatchObject({ ok: true });
    expect(await things()).toEqual(before);
  });
});
