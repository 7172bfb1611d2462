import { describe, expect, it } from "vitest";
import { newId } from "../../../src/base/ids.ts";
import { Representations } from "../../../src/rest/representations.ts";
import { allRoutes, wholeDocument } from "../../support/whole-document.ts";

const routes = allRoutes();
const representations = new Representations(routes);

describe("where things are that were made", () => {
  it("is told of all that can be read below the path at which they are made", async () => {
    const told = routes.filter((route) => representations.makes(route)).map(({ id }) => id);
    expect(told).toEqual(
      expect.arrayContaining([
        "createWorkspace",
        "createWebhook",
        "createUser",
        "createServiceKey",
      ]),
    );
    const { paths } = (await wholeDocument()) as {
      paths: Record<string, Record<string, { responses: Record<string, { headers?: object }> }>>;
    };
    const post = paths["/workspaces"]?.post?.responses[201]?.headers;
    expect(post).toHaveProperty("Location");
  });

  it("is their path, with the ids of the request", () => {
    const [id, webhookId] = [newId(), newId()];
    const route = routes.find((each) => each.id === "createWebhook");
    if (route === undefined) throw new Error("There is no such route.");
    const at = (body: unknown) => representations.madeAt(route, { params: { id } }, body);
    expect(at({ id: webhookId })).toBe(`/workspaces/${id}/webhooks/${webhookId}`);
    expect(at({ id: "../x" })).toBeUndefined();
    expect(at(undefined)).toBeUndefined();
  });
});
