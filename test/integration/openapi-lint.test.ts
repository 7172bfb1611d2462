import { createConfig, lintFromString } from "@redocly/openapi-core";
import { describe, expect, it } from "vitest";
import { wholeDocument } from "../support/whole-document.ts";

/** Where a rule does not hold, and rightly so, by rule. */
const EXPLAINED: Readonly<Record<string, string>> = {
  // A redirect is what this one succeeds with.
  "operation-2xx-response": "#/paths/~1auth~1oauth~1{provider}~1authorize/",
};

interface Content {
  content?: Record<string, { examples?: { example?: unknown } }>;
}

interface Parameter {
  name: string;
  /** Absent where it stands among the components. */
  schema?: { type?: string; maximum?: number };
}

interface Document {
  components: { parameters?: Record<string, Parameter> };
  paths: Record<
    string,
    Record<
      string,
      {
        operationId: string;
        parameters?: Parameter[];
        requestBody?: Content;
        responses: Record<string, Content>;
      }
    >
  >;
}

async function lint(document: object): Promise<string[]> {
  // A route that only redirects has no 2xx; what takes the rule's place is below.
  const rules = { "operation-2xx-response": "off" } as const;
  const config = await createConfig({ extends: ["recommended"], rules });
  const problems = await lintFromString({ source: JSON.stringify(document), config });
  const unexplained = problems.filter(
    ({ ruleId, location: [place] }) => !(place?.pointer ?? "").startsWith(EXPLAINED[ruleId] ?? "!"),
  );
  return unexplained.map(({ severity, ruleId, message, location }) => {
    const places = location.map(({ pointer }) => pointer ?? "").join(" ");
    return `${severity} ${ruleId}: ${message} ${places}`;
  });
}

describe("openapi lint", () => {
  it("finds nothing wrong with the document", async () => {
    expect(await lint(await wholeDocument())).toEqual([]);
  });

  it("has an answer of success, or a redirect, on every operation", async () => {
    const { paths } = (await wholeDocument()) as unknown as Document;
    for (const [path, item] of Object.entries(paths)) {
      for (const [method, { responses }] of Object.entries(item)) {
        const good = Object.keys(responses).filter((status) => /^(2\d\d|302)$/.test(status));
        expect(good, `${method} ${path}`).not.toEqual([]);
      }
    }
  });

  it("says of every whole number in a query how large it may be", async () => {
    const { paths, components } = (await wholeDocument()) as unknown as Document;
    const operations = [
      ...Object.values(paths).flatMap((item) => Object.values(item)),
      { operationId: "shared", parameters: Object.values(components.parameters ?? {}) },
    ];
    const endless = operations.flatMap(({ operationId, parameters = [] }) =>
      parameters
        .filter(({ schema }) => schema?.type === "integer" && schema.maximum === undefined)
        .map(({ name }) => `${operationId} ${name}`),
    );
    expect(endless).toEqual([]);
  });

  it("finds nothing wrong with the document of the live channel", async () => {
    const document = await wholeDocument("getAsyncApi");
    expect(document).toMatchObject({ asyncapi: "3.0.0" });
    expect(await lint(document)).toEqual([]);
  });

  it("has an example of every JSON body and every JSON success", async () => {
    const { paths } = (await wholeDocument()) as unknown as Document;
    const missing: string[] = [];
    for (const operation of Object.values(paths).flatMap((item) => Object.values(item))) {
      const { operationId, requestBody, responses } = operation;
      const successes = Object.entries(responses).filter(([status]) => status < "300");
      for (const [where, { content }] of [["body", requestBody ?? {}] as const, ...successes]) {
        const json = content?.["application/json"];
        if (json !== undefined && json.examples?.example === undefined) {
          missing.push(`${operationId} ${where}`);
        }
      }
    }
    expect(missing).toEqual([]);
  });
});
