import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { newId } from "../../src/base/ids.ts";
import { AppFixture } from "../support/app-fixture.ts";
import { call } from "../support/paired-device.ts";
import { voiceOutput } from "../support/voice-run.ts";
import { newOwner } from "../support/workspace-owner.ts";

describe("voice webhooks", () => {
  let service: AppFixture;
  let folder: string;
  let token: string;
  let workspaceId: string;
  let webhookId: string;

  beforeAll(async () => {
    service = await AppFixture.start({ WEBHOOK_ALLOW_PRIVATE: "1" });
    folder = mkdtempSync(join(tmpdir(), "voice-cli-"));
    ({ token, workspaceId } = await newOwner(service));
    const body = { url: "http://127.0.0.1:9/hook", tags: ["phone"] };
    const path = `/workspaces/${workspaceId}/webhooks`;
    const made = await call<{ id: string }>(service.api, "POST", path, { token, body });
    expect(made.status).toBe(201);
    webhookId = made.body.id;
  });
  afterAll(async () => {
    rmSync(folder, { recursive: true });
    await service?.stop();
  });

  function voice(...args: string[]): Promise<string> {
    const connection = ["--base-url", service.api, "--token", token];
    return voiceOutput(["webhooks", ...args, ...connection], { folder });
  }

  it("voice webhooks: lists them, tests one, and has it told again", async () => {
    expect(await voice("list", workspaceId)).toBe(
      `${webhookId}  http://127.0.0.1:9/hook  everything of sessions with phone\n`,
    );
    expect(await voice("test", workspaceId, webhookId)).toMatch(/^Queued as [0-9a-f-]{36};/);
    const from = ["--from", "2026-01-01T00:00:00Z"];
    expect(await voice("replay", workspaceId, webhookId, ...from)).toBe(
      "0 messages are sent again.\n",
    );
    const json = await voice("replay", workspaceId, webhookId, ...from, "--json");
    expect(JSON.parse(json)).toEqual({ replayed: 0 });
    await expect(voice("replay", workspaceId, webhookId)).rejects.toMatchObject({
      stderr: expect.stringContaining("--from"),
    });
    await expect(voice("test", workspaceId, newId())).rejects.toMatchObject({ code: 4 });
  });
});
