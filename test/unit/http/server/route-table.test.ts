import { describe, expect, it } from "vitest";
import { RouteTable } from "../../../../src/http/server/routing.ts";
import { defineRoute, type Route } from "../../../../src/rest/route.ts";

function route(method: Route["method"], path: string): Route {
  return defineRoute({
    method,
    path,
    id: `${method} ${path}`,
    tag: "Session",
    summary: "",
    auth: [],
    errors: [],
    responses: {},
    handle: async () => ({ status: 200 }),
  });
}

const table = new RouteTable([
  route("get", "/sessions"),
  route("post", "/sessions"),
  route("get", "/sessions/{id}"),
  route("get", "/sessions/{session_id}/chunks"),
  route("get", "/users/me"),
  route("get", "/users/{id}"),
  route("post", "/users/{id}/disable"),
  route("delete", "/a/{x}/b/{y}"),
]);

function found(method: string, path: string): [string, Record<string, string>] | string {
  const match = table.match(method, path);
  if (match.kind === "route") return [match.route.id, { ...match.params }];
  return match.kind === "wrong_method" ? match.allow.join(" ") : match.kind;
}

describe("route table: matching", () => {
  it("finds routes, with the names that each gives its parameters", () => {
    expect(found("GET", "/sessions")).toEqual(["get /sessions", {}]);
    expect(found("HEAD", "/sessions")).toEqual(["get /sessions", {}]);
    expect(found("POST", "/sessions/")).toEqual(["post /sessions", {}]);
    expect(found("GET", "/sessions/7/")).toEqual(["get /sessions/{id}", { id: "7" }]);
    expect(found("GET", "/sessions//")).toBe("unknown");
    expect(found("GET", "/")).toBe("unknown");
    expect(found("GET", "/sessions/7")).toEqual(["get /sessions/{id}", { id: "7" }]);
    expect(found("GET", "/sessions/7/chunks")).toEqual([
      "get /sessions/{session_id}/chunks",
      { session_id: "7" },
    ]);
    expect(found("DELETE", "/a/1/b/%2F%20")).toEqual(["delete /a/{x}/b/{y}", { x: "1", y: "/ " }]);
  });

  it("prefers a literal and falls back to a parameter", () => {
    expect(found("GET", "/users/me")).toEqual(["get /users/me", {}]);
    expect(found("POST", "/users/me/disable")).toEqual(["post /users/{id}/disable", { id: "me" }]);
  });

  it("knows what is unknown and what is another method", () => {
    for (const path of ["", "/", "//sessions", "/sessions//chunks", "/users/%zz"]) {
      expect(found("GET", path)).toBe("unknown");
    }
    expect(found("GET", `/${"a/".repeat(5000)}`)).toBe("unknown");
    expect(found("GET", "/__proto__")).toBe("unknown");
    expect(found("PUT", "/sessions")).toBe("GET HEAD OPTIONS POST");
  });

  it("refuses two routes of one method and path", () => {
    const twice = [route("get", "/x/{a}"), route("get", "/x/{b}")];
    expect(() => new RouteTable(twice)).toThrow("Two routes for GET /x/{b}.");
  });
});
