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
      bearer: callers.user,
    };
    const document = (await client.call("GET", "/openapi.json")).body;
    const requests = uploadRequests(document, ids, 1);
    const operations = new Set(requests.map(({ operationId }) => operationId));
    expect([...operations].toSorted()).toEqual([
      "createOpenAiTranscription",
      "createUpload",
      "listenDeepgram",
      "uploadAudio",
    ]);
    const ofNewSession = async (path: string): Promise<string> => {
      const body = { workspace_id: ids.workspace_id };
      const headers = { ...callers.user };
      const session = await client.call<{ id: string }>("POST", "/sessions", { headers, body });
      return path.replace(ids.session_id ?? "", session.body.id);
    };
    const refused: string[] = [];
    for (const { operationId, mediaType, path, scheme, headers, body } of requests) {
      // A whole file ends the session that it comes to.
      const at = operationId === "createUpload" ? await ofNewSession(path) : path;
      const { status, text } = await client.call("POST", at, {
        headers: { ...headersOf[scheme], ...headers },
        body,
      });
      if (status >= 300) refused.push(`${operationId} ${mediaType}: ${status} ${text}`);
    }
    expect(refused).toEqual([]);
  });
});
