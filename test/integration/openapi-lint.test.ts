import { createConfig, lintFromString } from "@redocly/openapi-core";
import { describe, expect, it } from "vitest";
import { wholeDocument } from "../support/whole-document.ts";

interface Content {
  content?: Record<string, { example?: unknown }>;
}

interface Document {
  paths: Record<
    string,
    Record<
      string,
      { operationId: string; requestBody?: Content; responses: Record<string, Content> }
    >
  >;
}

/** A browser is sent on to the provider: this never answers with a page of its own. */
const EXPLAINED = new Set([
  "operation-2xx-response #/paths/~1auth~1oauth~1{provider}~1authorize/get/responses",
]);

async function lint(document: object): Promise<string[]> {
  const config = await createConfig({ extends: ["recommended"] });
  const problems = await lintFromString({ source: JSON.stringify(document), config });
  return problems.flatMap(({ severity, ruleId, message, location }) => {
    const places = location.map(({ pointer }) => pointer ?? "").join(" ");
    return EXPLAINED.has(`${ruleId} ${places}`)
      ? []
      : [`${severity} ${ruleId}: ${message} ${places}`];
  });
}

describe("openapi lint", () => {
  it("finds nothing wrong with the document", async () => {
    expect(await lint(await wholeDocument())).toEqual([]);
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
        if (json !== undefined && json.example === undefined) {
          missing.push(`${operationId} ${where}`);
        }
      }
    }
    expect(missing).toEqual([]);
  });
});
