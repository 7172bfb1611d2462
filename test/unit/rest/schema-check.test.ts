import { Type } from "@sinclair/typebox";
import { describe, expect, it } from "vitest";
import { SchemaChecks } from "../../../src/rest/schema-check.ts";
import { allRoutes } from "../../support/whole-document.ts";

describe("schema check: sentences", () => {
  it("names the member by its path and what was expected", () => {
    const check = new SchemaChecks().body(
      Type.Object({
        id: Type.Optional(Type.String({ format: "uuid" })),
        words: Type.Optional(
          Type.Array(Type.Object({ start: Type.Number({ minimum: 0 }) }), { maxItems: 2 }),
        ),
        either: Type.Optional(Type.Union([Type.String(), Type.Object({ a: Type.Number() })])),
        kind: Type.Optional(Type.Literal("x")),
        code: Type.Optional(Type.String({ pattern: "^a+$" })),
        label: Type.Optional(Type.String({ pattern: "^S[1-9]$", examples: ["S1"] })),
        query: Type.Optional(Type.String({ pattern: "\\S" })),
        on: Type.Optional(Type.Boolean()),
      }),
    );
    expect(check({})).toBeUndefined();
    expect(check({ id: "x" })).toBe('"id" must be a UUID.');
    expect(check({ words: [{ start: 1 }, {}] })).toBe('"words[1].start" is required.');
    expect(check({ words: [{ start: -1 }] })).toBe('"words[0].start" must be >= 0.');
    expect(check({ words: [1, 2, 3] })).toBe('"words" must have at most 2 items.');
    expect(check({ either: 1 })).toBe('"either" matches none of the allowed forms.');
    expect(check({ kind: "y" })).toBe('"kind" must be "x".');
    expect(check({ code: "b" })).toBe('"code" does not have the expected form.');
    const form = '"label" does not have the expected form, which is as in "S1".';
    expect(check({ label: "s1" })).toBe(form);
    expect(check({ query: "  " })).toBe('"query" must not be blank.');
    expect(check({ on: "true" })).toBe('"on" must be true or false.');
    expect(check(null)).toBe("The request body must be an object.");
  });

  it("takes unknown members away only where the schema would refuse them", () => {
    const check = new SchemaChecks().body(Type.Object({}, { additionalProperties: false }));
    expect(check({ more: 1 })).toBeUndefined();
  });

  it("turns text into numbers and booleans for parameters only", () => {
    const schema = Type.Object({ n: Type.Integer(), on: Type.Boolean() });
    const checks = new SchemaChecks();
    const value = { n: "3", on: "true" };
    expect(checks.parameters(schema, "The query")(value)).toBeUndefined();
    expect(value).toEqual({ n: 3, on: true });
    expect(checks.body(schema)({ n: "3", on: true })).toBe('"n" must be a whole number.');
  });

  it("does not compile a schema with a misspelt keyword", () => {
    const check = new SchemaChecks().body(Type.String({ minLenght: 1 }));
    expect(() => check("text")).toThrow(/minLenght/);
  });

  it("compiles the schemas of every route", () => {
    const checks = new SchemaChecks();
    for (const { id, params, query, body } of allRoutes()) {
      const parameters = [params, query].flatMap((schema) =>
        schema === undefined ? [] : [schema],
      );
      const compile = () => {
        for (const schema of parameters) checks.parameters(schema, "It")({});
        if (body?.kind === "json") checks.body(body.schema)({});
      };
      expect(compile, id).not.toThrow();
    }
  });
});
