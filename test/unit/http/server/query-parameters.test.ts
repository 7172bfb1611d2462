import { describe, expect, it } from "vitest";
import { errorMessage } from "../../../../src/base/errors.ts";
import { PreparedRoute } from "../../../../src/http/server/routing.ts";
import type { Route } from "../../../../src/rest/route.ts";
import { allRoutes, wholeDocument } from "../../../support/whole-document.ts";

const routes = allRoutes();
const prepared = PreparedRoute.all(routes);

function isListing({ query }: Route): boolean {
  return ["limit", "cursor", "q"].some((name) => name in (query?.properties ?? {}));
}

/** What the route says to this parameter, which it does not have. */
function answerTo(route: Route, name: string): string {
  try {
    prepared.get(route)?.query({ [name]: "1" });
    return "nothing";
  } catch (error) {
    return errorMessage(error);
  }
}

describe("query parameters", () => {
  it.each(routes.filter(isListing))("$id refuses one that it does not know", (route) => {
    const known = Object.keys(route.query?.properties ?? {}).join(", ");
    expect(answerTo(route, "sort_by")).toMatch(/^"sort_by" is not known here; this (list|search)/);
    expect(answerTo(route, "sort_by")).toContain(` takes ${known}.`);
  });

  it.each(routes.filter((route) => !isListing(route)))("$id ignores it", (route) => {
    expect(answerTo(route, "sort_by")).not.toContain("sort_by");
  });

  it("says what it was in one short line, whatever it was", () => {
    const [list] = routes.filter(isListing);
    if (list === undefined) throw new Error("There is no list.");
    const said = answerTo(list, `\u202e\n${"x".repeat(5_000)}`);
    expect(said).toMatch(/^"\?\?x+…" is not known here/);
    expect(said.length).toBeLessThan(250);
  });

  it("is told by the OpenAPI document, route by route", async () => {
    const { paths } = (await wholeDocument()) as {
      paths: Record<string, Record<string, { operationId: string; description?: string }>>;
    };
    const strict = Object.values(paths)
      .flatMap((item) => Object.values(item))
      .filter(({ description = "" }) => description.includes("refuses other query parameters"))
      .map(({ operationId }) => operationId);
    expect(strict.sort()).toEqual(
      routes
        .filter(isListing)
        .map(({ id }) => id)
        .sort(),
    );
  });
});
