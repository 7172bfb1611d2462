import type { TSchema } from "@sinclair/typebox";
import { ERROR_CODES, type ErrorCode } from "../base/errors.ts";
import { exampleOf } from "./examples.ts";
import { isRepeatable, storesAnswer } from "./idempotency.ts";
import { AnswerPrinter } from "./openapi-answers.ts";
import { ErrorBody, requestBody } from "./openapi-bodies.ts";
import { SHARED_HEADERS, SHARED_PARAMETERS, tagGroupsOf, tagsOf } from "./openapi-parts.ts";
import { type WebhookMessage, webhooksOf } from "./openapi-webhooks.ts";
import { isEdit, Representations } from "./representations.ts";
import type { Credential, Route } from "./route.ts";
import { type JsonObject, SchemaPrinter } from "./schema-printer.ts";
import { kindOfListing, onlyParameters } from "./schemas.ts";

export interface ApiInfo {
  title: string;
  version: string;
  description?: string;
  /** Prefix of all paths. */
  basePath: string;
  /** Where clients reach the service, without the prefix; undefined where the operator has not told it. */
  publicUrl?: string | undefined;
  /** Messages that webhooks may get. */
  webhooks?: readonly WebhookMessage[];
}

/** Codes that any route can return. */
const ALWAYS: readonly ErrorCode[] = [
  "rate_limited",
  "internal",
  "unavailable",
  "overloaded",
  "timeout",
];

const SCHEMES: Readonly<Record<Credential, string>> = {
  bearer: "bearer",
  device_key: "device_key",
  service_key: "service_key",
  compat_key: "compat_key",
  refresh: "refresh_token",
  refresh_cookie: "refresh_cookie",
  guest_cookie: "guest_cookie",
  pairing_secret: "pairing_secret",
};

const KEYS_WITH_SCOPES: ReadonlySet<Credential> = new Set(["service_key", "compat_key"]);

const SECURITY_SCHEMES: JsonObject = {
  bearer: { type: "http", scheme: "bearer", bearerFormat: "JWT", description: "An access token." },
  device_key: { type: "apiKey", in: "header", name: "X-API-Key", description: "A device's key." },
  service_key: {
    type: "apiKey",
    in: "header",
    name: "X-API-Key",
    description: "A service key of one workspace; its scopes say what it may do.",
  },
  compat_key: {
    type: "http",
    scheme: "bearer",
    description:
      "A service key with the scope `transcribe`, as the clients of OpenAI (`Authorization: Bearer …`) and Deepgram (`Authorization: Token …`) send it. Below /compat only.",
  },
  refresh_token: { type: "http", scheme: "bearer", description: "A refresh token." },
  refresh_cookie: {
    type: "apiKey",
    in: "cookie",
    name: "voice-refresh",
    description:
      "A refresh token, as a sign-in with `refresh_cookie` gives it to a browser: HttpOnly, SameSite=Strict, sent to the addresses below /auth alone. Over HTTPS it is called `__Secure-voice-refresh`.",
  },
  guest_cookie: {
    type: "apiKey",
    in: "cookie",
    name: "voice-guest-{session_id}",
    description:
      "The secret of a guest, as POST /auth/guest with `refresh_cookie` gives it to a browser: HttpOnly, SameSite=Strict, sent to the addresses below /auth alone. Over HTTPS its name begins with `__Secure-`.",
  },
  pairing_secret: { type: "http", scheme: "bearer", description: "A device's pairing secret." },
};

/** Every error code that a route can return: its own and those that follow from its declaration. */
export function errorCodesOf(route: Route): ErrorCode[] {
  const codes = new Set<ErrorCode>([...(route.errors ?? []), ...ALWAYS]);
  if (route.auth.length > 0) codes.add("unauthorized");
  if (route.auth.includes("bearer")) codes.add("invalid_token");
  if (route.auth.some((each) => each.endsWith("_key"))) codes.add("invalid_api_key");
  if (route.auth.some((each) => KEYS_WITH_SCOPES.has(each))) codes.add("forbidden");
  if (route.auth.some((each) => each.endsWith("_key"))) codes.add("key_suspended");
  if (route.roles !== undefined) codes.add("forbidden");
  if (route.path.includes("{")) codes.add("not_found");
  if (route.query !== undefined) codes.add("invalid_parameter");
  // Also for routes without a body, because a body that is too large is refused first.
  if (route.method !== "get") codes.add("payload_too_large");
  if (route.body !== undefined) {
    codes.add("body_timeout").add("invalid_body").add("unsupported_media_type");
  }
  if (route.body?.kind === "json") codes.add("invalid_json");
  if (route.body !== undefined && route.body.kind !== "json") codes.add("storage_full");
  // Every change of a session may find it deleted.
  if (isOfSession(route) && route.method !== "get") codes.add("session_deleted");
  // Guests reach every route of their session whose roles leave them in.
  if (isOfSession(route) && route.auth.includes("bearer") && route.roles === undefined) {
    codes.add("guest_access_closed");
  }
  if (isEdit(route)) codes.add("precondition_failed");
  if (isRepeatable(route)) codes.add("invalid_parameter");
  if (storesAnswer(route)) codes.add("idempotency_in_progress").add("idempotency_mismatch");
  if (route.throughActor === true) codes.add("outcome_unknown");
  return ERROR_CODES.filter((code) => codes.has(code));
}

function isOfSession({ path }: Route): boolean {
  return path.startsWith("/sessions/{session_id}");
}

/** The OpenAPI 3.1 document of these routes; its schemas are the ones used for validation. */
export function openApiDocument(routes: readonly Route[], info: ApiInfo): JsonObject {
  const printer = new SchemaPrinter();
  const representations = new Representations(routes);
  const printing = {
    printer,
    representations,
    answers: new AnswerPrinter(printer, representations),
  };
  printer.print(ErrorBody);
  const paths: Record<string, JsonObject> = {};
  for (const route of routes) {
    const item = paths[route.path] ?? {};
    item[route.method] = operation(route, printing);
    paths[route.path] = item;
  }
  const about: JsonObject = {
    title: info.title,
    version: info.version,
    license: { name: "MIT", identifier: "MIT" },
  };
  if (info.description !== undefined) about.description = info.description;
  return {
    openapi: "3.1.0",
    info: about,
    servers: [{ url: `${info.publicUrl ?? ""}${info.basePath}` }],
    tags: tagsOf(routes),
    "x-tagGroups": tagGroupsOf(routes),
    paths,
    ...(info.webhooks === undefined ? {} : { webhooks: webhooksOf(info.webhooks, printer) }),
    components: {
      securitySchemes: SECURITY_SCHEMES,
      schemas: sorted(printer.components),
      responses: sorted(printing.answers.components),
      headers: SHARED_HEADERS,
      parameters: SHARED_PARAMETERS,
    },
  };
}

/** Context for printing one route. */
interface Printing {
  printer: SchemaPrinter;
  representations: Representations;
  answers: AnswerPrinter;
}

function sorted(components: JsonObject): JsonObject {
  const names = Object.keys(components).sort();
  return Object.fromEntries(names.map((name) => [name, components[name] ?? null]));
}

function operation(route: Route, printing: Printing): JsonObject {
  const { printer } = printing;
  const printed: JsonObject = {
    operationId: route.id,
    tags: [route.tag],
    summary: route.summary,
    security: route.auth.map((credential) => ({ [SCHEMES[credential]]: [] })),
    responses: printing.answers.print(route, errorCodesOf(route)),
  };
  const description = describe(route);
  if (description !== "") printed.description = description;
  const parameters = [
    ...pathParameters(route, printer),
    ...queryParameters(route, printer),
    ...headerParameters(route, printing),
  ];
  if (parameters.length > 0) printed.parameters = parameters;
  if (route.body !== undefined) {
    printed.requestBody = requestBody(route, route.body, printer);
  }
  return printed;
}

/** The route's description. For a list or search it adds that unknown parameters are refused. */
function describe(route: Route): string {
  const only = onlyParameters(route);
  if (only === undefined) return route.description ?? "";
  const strict = `This ${kindOfListing(only)} refuses other query parameters than these (400).`;
  return [route.description, strict].filter(Boolean).join(" ");
}

function members(schema: TSchema | undefined): Record<string, TSchema> {
  const properties: unknown = schema?.properties;
  return (properties ?? {}) as Record<string, TSchema>;
}

function pathParameters(route: Route, printer: SchemaPrinter): JsonObject[] {
  const schemas = members(route.params);
  return [...route.path.matchAll(/([^/]*)\/\{([^}]+)\}/g)].map(([, parent = "", name = ""]) => {
    const schema = { description: `UUID of the ${singular(parent)}`, ...schemas[name] };
    return {
      ...described(printer, name, { type: "string", ...schema }),
      in: "path",
      required: true,
      example: exampleOf(schemas[name] ?? { type: "string" }, idName(parent, name)) ?? "",
    };
  });
}

/** `api-keys` as `API key`, `entities` as `entity`. */
function singular(plural: string): string {
  const words = plural.replaceAll("-", " ").replace(/^api\b/, "API");
  return words.replace(/ies$/, "y").replace(/s$/, "");
}

/** `id` below /api-keys is a `key_id`, so that it is the same in path and answer. */
function idName(parent: string, name: string): string {
  return name === "id" ? `${singular(parent).split(" ").at(-1)}_id` : name;
}

/** Name, description and schema of a parameter. */
function described(printer: SchemaPrinter, name: string, schema: Partial<TSchema>): JsonObject {
  const { properties } = printer.print({ properties: { [name]: schema } }) as JsonObject;
  const printed = (properties as JsonObject)[name] as JsonObject;
  const { description = printed.$ref && `Only those of this ${name}`, ...rest } = printed;
  if (schema.default !== undefined) rest.default = schema.default;
  return { name, ...(description === undefined ? {} : { description }), schema: rest };
}

function queryParameters(route: Route, printer: SchemaPrinter): JsonObject[] {
  const required: unknown = route.query?.required;
  const names = Array.isArray(required) ? required : [];
  const [example = {}]: JsonObject[] = route.query?.examples ?? [];
  return Object.entries(members(route.query)).map(([name, schema]) => {
    const value = names.includes(name) ? exampleOf(schema, name) : example[name];
    return {
      ...described(printer, name, schema),
      in: "query",
      required: names.includes(name),
      ...(value === undefined ? {} : { example: value }),
    };
  });
}

/** Header parameters: those that the route declares, and those that follow from its declaration. */
function headerParameters(route: Route, { printer, representations }: Printing): JsonObject[] {
  const own = Object.entries(members(route.headers)).map(([name, schema]) => ({
    ...described(printer, name, schema),
    in: "header",
    required: (route.headers?.required ?? []).includes(name),
  }));
  const names = isRepeatable(route) ? ["Idempotency-Key"] : [];
  if (isEdit(route)) names.push("If-Match");
  if (route.method === "get" && representations.isTagged(route)) names.push("If-None-Match");
  return [...own, ...names.map((name) => ({ $ref: `#/components/parameters/${name}` }))];
}
