import { Type } from "@sinclair/typebox";
import { describe, expect, it } from "vitest";
import { ERROR_CODES } from "../../../src/base/errors.ts";
import { healthRoutes } from "../../../src/conversations/admin/health.ts";
import { docsRoutes } from "../../../src/rest/docs.ts";
import { openApiDocument } from "../../../src/rest/openapi.ts";
import { defineRoute, type Route } from "../../../src/rest/route.ts";
import { echoRoutes } from "../../support/echo-routes.ts";
import { ManualClock } from "../../support/manual-clock.ts";

const INFO = { title: "Voice", version: "1.0", basePath: "/api" };

type Node = Record<string, unknown>;

function at(value: unknown, ...path: (string | number)[]): unknown {
  return path.reduce<unknown>((node, key) => (node as Node | undefined)?.[key], value);
}

function references(value: unknown): string[] {
  if (Array.isArray(value)) return value.flatMap(references);
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([name, member]) =>
    name === "$ref" ? [String(member)] : references(member),
  );
}

function allRoutes(): Route[] {
  const checks = { run: async () => ({}) };
  const routes = [
    ...echoRoutes().routes,
    ...healthRoutes({ checks, version: "1", clock: new ManualClock() }),
  ];
  routes.push(...docsRoutes(() => routes, INFO));
  return routes;
}

describe("openapi: document", () => {
  const routes = allRoutes();
  const document = openApiDocument(routes, INFO);

  it("has each route with its parameters, and only references that lead somewhere", () => {
    expect(document.openapi).toBe("3.1.0");
    const ids = new Set<unknown>();
    for (const route of routes) {
      const operation = at(document, "paths", route.path, route.method);
      ids.add(at(operation, "operationId"));
      const parameters = (at(operation, "parameters") ?? []) as Node[];
      const named = parameters.filter((each) => each.in === "path").map((each) => each.name);
      expect(named).toEqual([...route.path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name));
      for (const status of Object.keys(route.responses)) {
        expect(at(operation, "responses", status, "description")).toBeTypeOf("string");
      }
    }
    expect(ids.size).toBe(routes.length);
    for (const reference of references(document)) {
      expect(at(document, ...reference.split("/").slice(1)), reference).toBeDefined();
    }
  });

  it("declares the errors that follow from a route's shape, with their codes", () => {
    const put = at(document, "paths", "/things/{id}", "put", "responses") as Node;
    const statuses = Object.keys(put);
    expect(statuses).toEqual([
      "200",
      "400",
      "401",
      "403",
      "404",
      "408",
      "412",
      "413",
      "415",
      "429",
      "500",
      "503",
    ]);
    const reference = String(at(put, "401", "$ref"));
    const unauthorised = at(document, ...reference.split("/").slice(1));
    const codes = at(unauthorised, "headers", "X-Error-Code", "schema", "enum") as string[];
    expect(codes).toEqual(["unauthorized", "invalid_token"]);
    for (const code of codes) expect(ERROR_CODES).toContain(code);
    const list = at(document, "paths", "/things", "get", "responses") as Node;
    expect(Object.keys(list)).toEqual(["200", "400", "429", "500", "503"]);
    const upload = at(document, "paths", "/upload", "post", "responses") as Node;
    expect(Object.keys(upload)).toContain("507");
  });

  it("tells how each credential is sent", () => {
    expect(at(document, "paths", "/things/{id}", "get", "security")).toEqual([{ bearer: [] }]);
    expect(at(document, "paths", "/locked-upload", "post", "security")).toEqual([
      { device_key: [] },
    ]);
    expect(at(document, "components", "securitySchemes", "device_key", "name")).toBe("X-API-Key");
  });

  it("openapi: clients find the service where the operator says that it is", () => {
    const serversOf = (publicUrl: string | undefined) =>
      openApiDocument([], { ...INFO, publicUrl }).servers;
    expect(serversOf("https://voice.example.org")).toEqual([
      { url: "https://voice.example.org/api" },
    ]);
    expect(serversOf(undefined)).toEqual([{ url: "/api" }]);
  });

  it("prints a schema with an $id once and refuses two of one name", () => {
    const shared = Type.Object({ a: Type.String() }, { $id: "Shared" });
    const make = (path: string, schema: typeof shared): Route =>
      defineRoute({
        method: "get",
        path,
        id: path,
        tag: "Session",
        summary: "",
        auth: [],
        errors: [],
        responses: { 200: { description: "", schema } },
        handle: async () => ({ status: 200 }),
      });
    const printed = openApiDocument([make("/a", shared), make("/b", shared)], INFO);
    expect(at(printed, "components", "schemas", "Shared", "type")).toBe("object");
    expect(references(at(printed, "paths", "/b", "get", "responses", "200"))).toContain(
      "#/components/schemas/Shared",
    );
    const other = Type.Object({ a: Type.String({ minLength: 1 }) }, { $id: "Shared" });
    expect(() => openApiDocument([make("/a", shared), make("/b", other)], INFO)).toThrow(/Shared/);
  });
});
