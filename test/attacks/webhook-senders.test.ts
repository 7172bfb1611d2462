import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { SessionEvent } from "../../src/session/event.ts";
import { until } from "../support/until.ts";
import { WebhookFixture } from "../support/webhook-fixture.ts";

const STARTED: SessionEvent = {
  type: "SessionStarted",
  sessionId: "s",
  jobId: "j",
  language: "en",
};

let webhooks: WebhookFixture;
let server: Server;
let base = "";
const asked: string[] = [];

beforeAll(async () => {
  webhooks = await WebhookFixture.open();
  // Answers nobody but `/modest`.
  server = createServer((request, response) => {
    asked.push(request.url ?? "");
    if (request.url === "/modest") response.end();
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});

afterAll(async () => {
  server.closeAllConnections();
  server.close();
  await webhooks.close();
});

describe("webhook senders", () => {
  it("a workspace whose endpoints do not answer leaves places to the others", async () => {
    const greedy = await webhooks.session();
    for (let n = 0; n < 12; n += 1) {
      await webhooks.add(greedy.owner, greedy.workspaceId, { url: `${base}/greedy${n}` });
    }
    await greedy.story.tell([STARTED]);
    const modest = await webhooks.session();
    await webhooks.add(modest.owner, modest.workspaceId, { url: `${base}/modest` });
    await modest.story.tell([STARTED]);
    // Past the times that the database gave to the deliveries.
    webhooks.clock.advance(60_000);
    webhooks.sender({ parallel: 8, timeout: 3_600_000 });
    await until(() => asked.includes("/modest"), "the neighbour's delivery");
    expect(new Set(asked.filter((url) => url.startsWith("/greedy"))).size).toBeLessThanOrEqual(2);
  });
});
