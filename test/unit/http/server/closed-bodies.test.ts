import { describe, expect, it } from "vitest";
import { errorMessage } from "../../../../src/base/errors.ts";
import { PreparedRoute } from "../../../../src/http/server/routing.ts";
import { allRoutes } from "../../../support/whole-document.ts";

const prepared = PreparedRoute.all(allRoutes());

function answerTo(id: string, body: object): string {
  const route = [...prepared.values()].find(({ route: { id: own } }) => own === id);
  if (route === undefined) throw new Error(`There is no ${id}.`);
  try {
    route.body(Buffer.from(JSON.stringify(body)));
    return "nothing";
  } catch (error) {
    return errorMessage(error);
  }
}

describe("bodies of webhooks", () => {
  const url = "https://example.com/hooks";

  it.each([
    ["createWebhook", { url, events: ["session.completed"] }, "events"],
    ["changeWebhook", { event_type: ["session.completed"] }, "event_type"],
    ["createWebhook", { url, filters: { workspace: "a" } }, "filters"],
  ])("%s: %j is refused, as it would subscribe to everything", (id, body, name) => {
    expect(answerTo(id, body)).toBe(
      `"${name}" is not known here; the request body takes url, description, event_types, tags, enabled.`,
    );
  });

  it("a replay with a misspelt end is refused, as it would send everything up to now", () => {
    const from = "2026-01-31T09:30:00.000Z";
    expect(answerTo("replayWebhook", { from, untill: "2026-01-31T10:30:00.000Z" })).toBe(
      '"untill" is not known here; the request body takes from, to.',
    );
    expect(answerTo("replayWebhook", { from, to: "2026-01-31T10:30:00.000Z" })).toBe("nothing");
  });

  it("names a misspelt event, and takes those that there are", () => {
    const misspelt = { url, event_types: ["session.complete"] };
    expect(answerTo("createWebhook", misspelt)).toMatch(
      /^"event_types\[0\]" must be one of .*"session.completed".*, not "session.complete"\.$/,
    );
    const right = { url, event_types: ["session.completed"], enabled: false };
    expect(answerTo("createWebhook", right)).toBe("nothing");
    expect(answerTo("createWorkspace", { name: "A", unknown: 1 })).toBe("nothing");
  });
});
