import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { ApiClient } from "../../support/api-client.ts";
import { AppFixture } from "../../support/app-fixture.ts";
import { seedWorld } from "../../support/seeded-world.ts";
import { uploadRequests } from "../../support/upload-requests.ts";

describe("the document and uploads", () => {
  let service: AppFixture;
  let client: ApiClient;

  beforeAll(async () => {
    service = await AppFixture.start({ RATE_LIMIT_FACTOR: "0" });
    client = await ApiClient.connect(service.api);
  });
  afterAll(() => service?.stop());

  it("uploads: every form and every media type that is told is taken", async () => {
    const { callers, ids } = await seedWorld(client, service.ready.admin);
    const { body: made } = await client.call<{ key: string }>("POST", "/api-keys", {
      headers: { ...callers.user },
      body: { workspace_id: ids.workspace_id, name: "Programs", scopes: ["transcribe"] },
    });
    const headersOf: Readonly<Record<string, object>> = {
      device_key: callers.device,
      compat_key: { authorization: `Bearer ${made.key}` },
    };
    const document = (await client.call("GET", "/openapi.json")).body;
    const requests = uploadRequests(document, ids, 1);
    const operations = new Set(requests.map(({ operationId }) => operationId));
    expect([...operations].toSorted()).toEqual([
      "createOpenAiTranscription",
      "listenDeepgram",
      "uploadAudio",
    ]);
    const refused: string[] = [];
    for (const { operationId, mediaType, path, scheme, headers, body } of requests) {
      const { status, text } = await client.call("POST", path, {
        headers: { ...headersOf[scheme], ...headers },
        body,
      });
      if (status >= 300) refused.push(`${operationId} ${mediaType}: ${status} ${text}`);
    }
    expect(refused).toEqual([]);
  });
});
