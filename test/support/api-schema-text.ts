import openapiTS, { astToString } from "openapi-typescript";
import { wholeDocument } from "./whole-document.ts";

/** Where the typed client has its types. */
export const API_SCHEMA_FILE = "src/cli/gen/api-schema.ts";

const HEAD = "// Made from the OpenAPI document by `npm run client`; not edited by hand.\n\n";

/** The types of the interface as the document gives them now. */
export async function apiSchemaText(): Promise<string> {
  const document = essential(await wholeDocument());
  const types = await openapiTS(JSON.stringify(document), { alphabetize: true });
  return HEAD + brief(astToString(types));
}

/** Lines that say that there is no such method, parameter or body. */
const NOTHING = /^ *\w+\?: never;\n/gm;
const NO_PARAMETERS = /^ *parameters: \{\n *\};\n/gm;
/** Headers of answers, which are left out below. */
const UNKNOWN_HEADERS = /^ *headers: \{\n *\[name: string\]: unknown;\n *\};\n/gm;
const ONE_MEMBER = /\{\n *([^\n*]+;)\n *\}/g;

function brief(types: string): string {
  const said = types.replaceAll(NOTHING, "");
  const short = said.replaceAll(NO_PARAMETERS, "").replaceAll(UNKNOWN_HEADERS, "");
  // Twice: of what it joins the first time, some is the only member of something.
  return short.replaceAll(ONE_MEMBER, "{ $1 }").replaceAll(ONE_MEMBER, "{ $1 }");
}

type Members = Readonly<Record<string, unknown>>;

function isMembers(value: unknown): value is Members {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** What is called and the schemas of it: webhooks are for those who are called. */
function essential(document: Members): Members {
  const { components, webhooks: _webhooks, ...rest } = without(document) as Members;
  const { schemas, parameters } = components as { schemas: Members; parameters: unknown };
  const used = new Set<string>();
  const find = (value: unknown): void => {
    for (const [, name = ""] of JSON.stringify(value).matchAll(/#\/components\/schemas\/(\w+)/g)) {
      if (used.has(name)) continue;
      used.add(name);
      find(schemas[name]);
    }
  };
  find(rest);
  const known = Object.entries(schemas).filter(([name]) => used.has(name));
  return { ...rest, components: { schemas: Object.fromEntries(known), parameters } };
}

/** Examples and formats would be comments only, and refusals are thrown, all in one shape. */
const LEFT_OUT = /^(examples?|headers|[345]\d\d)$/;

function without(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(without);
  if (!isMembers(value)) return value;
  const members = Object.entries(value).filter(
    ([name, member]) => !LEFT_OUT.test(name) && !(name === "format" && typeof member === "string"),
  );
  return Object.fromEntries(members.map(([name, member]) => [name, without(member)]));
}
