import { type TSchema, Type } from "@sinclair/typebox";
import { ERROR_CODES, ERROR_STATUS, type ErrorCode } from "../base/errors.ts";
import { isKept, isRepeatable } from "./idempotency.ts";
import {
  COMMON_HEADERS,
  exampleOf,
  type JsonObject,
  SchemaPrinter,
  SHARED_HEADERS,
  SHARED_PARAMETERS,
  tagsOf,
} from "./openapi-parts.ts";
import { isEdit, Representations } from "./representations.ts";
import type { Credential, ResponseSpec, Route } from "./route.ts";
import { kindOfListing, onlyParameters } from "./schemas.ts";

export interface ApiInfo {
  title: string;
  version: string;
  description?: string;
  /** Prefix of all paths. */
  basePath: string;
}

/** The body of every error, and of operations that return nothing else. */
const ErrorBody = Type.Object(
  {
    success: Type.Boolean({ description: "False for an error." }),
    message: Type.String({ description: "What happened, as a sentence for people." }),
  },
  { $id: "ErrorBody", additionalProperties: false },
);

const JSON_TYPE = "application/json";

/** Codes that any route can return. */
const ALWAYS: readonly ErrorCode[] = [
  "rate_limited",
  "internal",
  "unavailable",
  "overloaded",
  "timeout",
];

const STATUS_TEXT: Readonly<Record<number, string>> = {
  400: "The request is not right; the message says what.",
  401: "Who calls is not proven.",
  403: "The caller may not do this.",
  404: "There is no such thing for this caller.",
  408: "The body came too slowly; nothing was done.",
  409: "The state of the thing does not allow this.",
  412: "The thing has changed since the caller read it.",
  413: "The body is too large.",
  415: "The body is of a kind that is not taken.",
  416: "Nothing of the range is there.",
  422: "The body is well formed but cannot be used.",
  429: "Too many requests; `Retry-After` says when to try again.",
  500: "Something went wrong on our side.",
  503: "Not available at the moment; try again.",
  507: "There is no room to store this.",
};

const SCHEMES: Readonly<Record<Credential, string>> = {
  bearer: "bearer",
  device_key: "device_key",
  service_key: "service_key",
  compat_key: "compat_key",
  refresh: "refresh_token",
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
  if (route.body?.kind === "upload") codes.add("storage_full");
  // Every change of a session may find it deleted.
  if (isOfSession(route) && route.method !== "get") codes.add("session_deleted");
  // Guests reach every route of their session whose roles leave them in.
  if (isOfSession(route) && route.auth.includes("bearer") && route.roles === undefined) {
    codes.add("guest_access_closed");
  }
  if (isEdit(route)) codes.add("precondition_failed");
  if (isRepeatable(route)) codes.add("invalid_parameter");
  if (isKept(route)) codes.add("idempotency_in_progress").add("idempotency_mismatch");
  if (route.wish === true) codes.add("outcome_unknown");
  return ERROR_CODES.filter((code) => codes.has(code));
}

function isOfSession({ path }: Route): boolean {
  return path.startsWith("/sessions/{session_id}");
}

/** The OpenAPI 3.1 document of these routes; its schemas are the ones used for validation. */
export function openApiDocument(routes: readonly Route[], info: ApiInfo): JsonObject {
  const printer = new SchemaPrinter();
  const printing = { printer, representations: new Representations(routes) };
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
    servers: [{ url: info.basePath }],
    tags: tagsOf(routes),
    paths,
    components: {
      securitySchemes: SECURITY_SCHEMES,
      schemas: printer.components,
      headers: SHARED_HEADERS,
      parameters: SHARED_PARAMETERS,
    },
  };
}

/** Context for printing one route. */
interface Printing {
  printer: SchemaPrinter;
  representations: Representations;
}

function operation(route: Route, printing: Printing): JsonObject {
  const { printer, representations } = printing;
  const printed: JsonObject = {
    operationId: route.id,
    tags: [route.tag],
    summary: route.summary,
    security: route.auth.map((credential) => ({ [SCHEMES[credential]]: [] })),
    responses: responses(route, printing),
  };
  const description = describe(route);
  if (description !== "") printed.description = description;
  const parameters = [
    ...pathParameters(route, printer),
    ...queryParameters(route, printer),
    ...headerParameters(route, representations),
  ];
  if (parameters.length > 0) printed.parameters = parameters;
  if (route.body !== undefined) printed.requestBody = requestBody(route.body, printer);
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
  return [...route.path.matchAll(/\{([^}]+)\}/g)].map(([, name = ""]) => ({
    name,
    in: "path",
    required: true,
    schema: printer.print(schemas[name] ?? { type: "string" }),
    example: exampleOf(schemas[name] ?? { type: "string" }, name) ?? "",
  }));
}

function queryParameters(route: Route, printer: SchemaPrinter): JsonObject[] {
  const required: unknown = route.query?.required;
  const names = Array.isArray(required) ? required : [];
  const [example = {}]: JsonObject[] = route.query?.examples ?? [];
  return Object.entries(members(route.query)).map(([name, schema]) => {
    const value = names.includes(name) ? exampleOf(schema, name) : example[name];
    return {
      name,
      in: "query",
      required: names.includes(name),
      schema: printer.print(schema),
      ...(value === undefined ? {} : { example: value }),
    };
  });
}

/** Header parameters that follow from a route's declaration. */
function headerParameters(route: Route, representations: Representations): JsonObject[] {
  const names = isRepeatable(route) ? ["Idempotency-Key"] : [];
  if (isEdit(route)) names.push("If-Match");
  if (route.method === "get" && representations.isTagged(route)) names.push("If-None-Match");
  return names.map((name) => ({ $ref: `#/components/parameters/${name}` }));
}

/** A JSON body with an example. */
function jsonContent(schema: TSchema, printer: SchemaPrinter, orError = false): JsonObject {
  const own = printer.print(schema);
  const content: JsonObject = {
    schema: orError ? { anyOf: [own, printer.print(ErrorBody)] } : own,
  };
  const example = exampleOf(schema);
  if (example !== undefined) content.example = example;
  return content;
}

function requestBody(body: NonNullable<Route["body"]>, printer: SchemaPrinter): JsonObject {
  if (body.kind === "json") {
    const content = { [JSON_TYPE]: jsonContent(body.schema, printer) };
    return { required: body.optional !== true, content };
  }
  const own = body.form && (printer.print(body.form) as JsonObject);
  const properties: JsonObject = {
    file: { type: "string", contentMediaType: "application/octet-stream" },
    ...((own?.properties ?? {
      chunk_sequence: { type: "string" },
      started_at: { type: "string" },
    }) as JsonObject),
  };
  const multipart: JsonObject = { type: "object", required: ["file"], properties };
  return {
    required: true,
    content: {
      "multipart/form-data": { schema: multipart },
      "*/*": { schema: { type: "string", contentMediaType: "application/octet-stream" } },
    },
  };
}

function responses(route: Route, { printer, representations }: Printing): JsonObject {
  const printed: JsonObject = {};
  const byStatus = new Map<number, ErrorCode[]>();
  const { dialect } = route;
  for (const code of errorCodesOf(route)) {
    const status = dialect?.status(code) ?? ERROR_STATUS[code];
    byStatus.set(status, [...(byStatus.get(status) ?? []), code]);
  }
  for (const [status, codes] of byStatus) {
    printed[status] = problem(status, codes, printer, dialect?.schema ?? ErrorBody);
  }
  for (const [status, spec] of Object.entries(route.responses)) {
    const headers = answerHeaders(route, Number(status), representations);
    printed[status] = response(spec, headers, byStatus.get(Number(status)), printer);
  }
  if (route.method === "get" && representations.isTagged(route)) {
    const headers = answerHeaders(route, 200, representations);
    printed[304] = { description: "The caller has this already.", headers };
  }
  return printed;
}

function answerHeaders(route: Route, status: number, representations: Representations): JsonObject {
  const headers = { ...COMMON_HEADERS };
  if (status === 200 && representations.isTagged(route)) {
    headers.ETag = { $ref: "#/components/headers/ETag" };
  }
  if ((status === 201 || status === 202) && isKept(route)) {
    headers["Idempotency-Replayed"] = { $ref: "#/components/headers/Idempotency-Replayed" };
  }
  return headers;
}

/**
 * The response for a status of the route. When errors share the status, the error body is allowed
 * too.
 */
function response(
  spec: ResponseSpec,
  headers: JsonObject,
  codes: ErrorCode[] | undefined,
  printer: SchemaPrinter,
): JsonObject {
  const printed: JsonObject = { description: spec.description, headers };
  const content: JsonObject = {};
  if (spec.schema !== undefined) {
    content[JSON_TYPE] = jsonContent(spec.schema, printer, codes !== undefined);
  }
  for (const type of spec.mediaTypes ?? []) content[type] ??= {};
  if (Object.keys(content).length > 0) printed.content = content;
  return printed;
}

function descriptionOf(status: number, codes: readonly ErrorCode[]): string {
  const text = STATUS_TEXT[status] ?? "An error.";
  if (!codes.includes("outcome_unknown")) return text;
  return `${text} With \`outcome_unknown\` nobody can tell just now whether it was done: the same request with the same Idempotency-Key tells, and never does it twice.`;
}

function problem(
  status: number,
  codes: ErrorCode[],
  printer: SchemaPrinter,
  body: TSchema,
): JsonObject {
  const headers: JsonObject = {
    ...COMMON_HEADERS,
    "X-Error-Code": {
      required: true,
      description: "What happened, for programs.",
      schema: { type: "string", enum: codes },
    },
  };
  if (status === 429 || status === 503) {
    headers["Retry-After"] = { $ref: "#/components/headers/Retry-After" };
  }
  return {
    description: descriptionOf(status, codes),
    headers,
    content: { [JSON_TYPE]: { schema: printer.print(body) } },
  };
}
