import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { API_SCHEMA_FILE, apiSchemaText } from "../../support/api-schema-text.ts";

it("cli types: are those of the interface as it is now", async () => {
  const fresh = (await apiSchemaText()) === readFileSync(API_SCHEMA_FILE, "utf8");
  expect(fresh, `${API_SCHEMA_FILE} is out of date: run \`npm run client\``).toBe(true);
});
