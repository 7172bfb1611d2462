import { describe, expect, it } from "vitest";
import { errorMessage, unknownThing } from "../../../../src/base/errors.ts";
import { newId } from "../../../../src/base/ids.ts";
import { PreparedRoute } from "../../../../src/http/server/routing.ts";
import type { Route } from "../../../../src/rest/route.ts";
import { allRoutes } from "../../../support/whole-document.ts";

const routes = allRoutes();
const prepared = PreparedRoute.all(routes);
const named = routes.filter(({ path }) => path.includes("_id}") || path.includes("{id}"));

/** What the route says when each parameter of its path is `text`. */
function sentence(route: Route, text: string): string {
  const names = [...route.path.matchAll(/\{([^}]*)\}/g)].map(([, name = ""]) => name);
  try {
    prepared.get(route)?.params(Object.fromEntries(names.map((name) => [name, text])));
    return "";
  } catch (error) {
    return errorMessage(error);
  }
}

describe("unknown things", () => {
  it.each(named)("$method $path says what it took for an id", (route) => {
    expect(sentence(route, "nope")).toMatch(/^"nope" is not the id of an? [a-z ]+\.$/);
    expect(sentence(route, newId())).toBe("");
  });

  it("names the thing that the path is about", () => {
    const said = (id: string) => {
      const route = routes.find((each) => each.id === id);
      return route === undefined ? "no route" : sentence(route, "nope");
    };
    expect(said("getSession")).toBe('"nope" is not the id of a session.');
    expect(said("getWorkspace")).toBe('"nope" is not the id of a workspace.');
    expect(said("getGraphEntity")).toBe('"nope" is not the id of a workspace.');
    expect(said("getServiceKey")).toBe('"nope" is not the id of a key.');
  });

  it("repeats an id in one short line, whatever was sent", () => {
    const id = newId();
    expect(unknownThing("session", id).message).toBe(`There is no session ${id}.`);
    expect(unknownThing("entity", "x").message).toBe('"x" is not the id of an entity.');
    const odd = unknownThing("session", `a\r\nb\u202e\u0000${"x".repeat(500)}`).message;
    expect(odd).toMatch(/^"a\?\?b\?\?x+…" is not the id of a session\.$/);
    expect(odd.length).toBeLessThan(120);
  });
});
