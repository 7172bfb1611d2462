import openapiTS, { astToString } from "openapi-typescript";
import { wholeDocument } from "./whole-document.ts";

/** Where the typed client has its types. */
export const API_SCHEMA_FILE = "src/cli/gen/api-schema.ts";

const HEAD = "// Made from the OpenAPI document by `npm run client`; not edited by hand.\n\n";

/** The types of the interface as the document gives them now. */
export async function apiSchemaText(): Promise<string> {
  const document = essential(await wholeDocument());
  const types = await openapiTS(JSON.stringify(document), { alphabetize: true });
  return HEAD + astToString(types).replaceAll(NOTHING, "");
}

/** Lines that say that there is no such method, parameter or body. */
const NOTHING = /^ *\w+\?: never;\n/gm;

/** Examples and formats would be comments only, and refusals are thrown, all in one shape. */
const LEFT_OUT = /^(examples?|headers|[345]\d\d)$/;

function essential(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(essential);
  if (typeof value !== "object" || value === null) return value;
  const members = Object.entries(value).filter(
    ([name, member]) => !LEFT_OUT.test(name) && !(name === "format" && typeof member === "string"),
  );
  return Object.fromEntries(members.map(([name, member]) => [name, essential(member)]));
}
