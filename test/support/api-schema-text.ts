import openapiTS, { astToString } from "openapi-typescript";
import { WEBHOOK_MESSAGES } from "../../src/tenancy/webhooks/messages.ts";
import { DEVICE_FRAME_SCHEMAS, DEVICE_SERVER_FRAMES } from "../../src/wire/device-frames.ts";
import { SERVER_FRAMES } from "../../src/wire/live-frames.ts";
import { VIEWER_FRAME_SCHEMAS } from "../../src/wire/viewer-frames.ts";
import { wholeDocument } from "./whole-document.ts";

/** Where the package of the typed client has its types. */
export const API_SCHEMA_FILE = "src/client/gen/api-schema.ts";
export const LIVE_SCHEMA_FILE = "src/client/gen/live-schema.ts";

const HEAD = "// Made from the OpenAPI document by `npm run client`; not edited by hand.\n\n";

/** The types of the interface as the document gives them now. */
export async function apiSchemaText(): Promise<string> {
  const document = essential(await wholeDocument());
  const types = await openapiTS(JSON.stringify(document), { alphabetize: true });
  return HEAD + brief(astToString(types));
}

/**
 * The schemas of everything that comes without being asked for: each frame of the WebSockets, what
 * each end may send as one schema of several forms, and the messages of webhooks.
 */
export function liveSchemas(): Record<string, object> {
  const payloads = (frames: Readonly<Record<string, { payload: object }>>) =>
    Object.entries(frames).map(([name, { payload }]): [string, object] => [name, payload]);
  const toViewer = payloads(SERVER_FRAMES);
  const toDevice = payloads(DEVICE_SERVER_FRAMES);
  const fromViewer = Object.entries<object>(VIEWER_FRAME_SCHEMAS);
  // A heartbeat of a device is another than the one that the service sends.
  const fromDevice = Object.entries<object>(DEVICE_FRAME_SCHEMAS).map(
    ([name, schema]): [string, object] => [`${name}Order`, schema],
  );
  const hooks = WEBHOOK_MESSAGES.map(({ schema }): [string, object] => [schema.$id ?? "", schema]);
  return {
    ...Object.fromEntries([...toViewer, ...toDevice, ...fromViewer, ...fromDevice, ...hooks]),
    ServerFrame: oneOf(toViewer),
    StreamServerFrame: oneOf(toDevice),
    ViewerFrame: oneOf(fromViewer),
    StreamFrame: oneOf(fromDevice),
    WebhookMessage: oneOf(hooks),
  };
}

function oneOf(schemas: readonly [string, object][]): object {
  return { oneOf: schemas.map(([name]) => ({ $ref: `#/components/schemas/${name}` })) };
}

/** The types of the frames and of webhooks' messages as their schemas give them now. */
export async function liveSchemaText(): Promise<string> {
  const schemas = without(JSON.parse(JSON.stringify(liveSchemas())));
  const info = { title: "live", version: "1" };
  const document = { openapi: "3.1.0", info, paths: {}, components: { schemas } };
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
