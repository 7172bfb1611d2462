import type { TSchema } from "@sinclair/typebox";
import { type ErrorCode, errorMeaning, errorStatus } from "../base/errors.ts";
import { BY_FORMAT } from "./example-values.ts";
import { type ExampleInput, exampleOf } from "./examples.ts";
import { storesAnswer } from "./idempotency.ts";
import { ErrorBody, JSON_TYPE, jsonContent, ownName } from "./openapi-bodies.ts";
import { COMMON_HEADERS } from "./openapi-parts.ts";
import type { Representations } from "./representations.ts";
import type { ResponseSpec, Route } from "./route.ts";
import type { JsonObject, SchemaPrinter } from "./schema-printer.ts";

/** Prints the answers of routes. Errors that several routes share stand once, among the components. */
export class AnswerPrinter {
  /** `components.responses`. */
  readonly components: JsonObject = {};
  readonly #printer: SchemaPrinter;
  readonly #representations: Representations;

  constructor(printer: SchemaPrinter, representations: Representations) {
    this.#printer = printer;
    this.#representations = representations;
  }

  /** The `responses` of a route that can fail with these codes. */
  print(route: Route, codes: readonly ErrorCode[]): JsonObject {
    const printed: JsonObject = {};
    const byStatus = new Map<number, ErrorCode[]>();
    const { dialect } = route;
    for (const code of codes) {
      const status = dialect?.status(code) ?? errorStatus(code);
      byStatus.set(status, [...(byStatus.get(status) ?? []), code]);
    }
    for (const [status, some] of byStatus) {
      printed[status] = this.#problem(status, some, dialect?.schema);
    }
    for (const [status, spec] of Object.entries(route.responses)) {
      const headers = answerHeaders(route, Number(status), this.#representations);
      printed[status] = this.#success(route, spec, headers, byStatus.has(Number(status)));
    }
    if (route.method === "get" && this.#representations.isTagged(route)) {
      const headers = answerHeaders(route, 200, this.#representations);
      printed[304] = this.#shared("NotModified", {
        description: "The caller has this already.",
        headers,
      });
    }
    return printed;
  }

  /** `orError`: errors of the route have the same status, so that their body is allowed too. */
  #success(route: Route, spec: ResponseSpec, headers: JsonObject, orError: boolean): JsonObject {
    const printed: JsonObject = { description: spec.description, headers };
    const content: JsonObject = {};
    if (spec.schema !== undefined) {
      const name = ownName(route, "Response");
      const isNew = spec === route.responses[201];
      const given = { ...asked(route), ...(isNew ? NEW : {}), ...spec.example };
      content[JSON_TYPE] = jsonContent(spec.schema, name, this.#printer, { orError, given });
    }
    for (const type of spec.mediaTypes ?? []) content[type] ??= {};
    if (Object.keys(content).length > 0) printed.content = content;
    return printed;
  }

  /** `dialect`: the schema of errors in place of our own; each such problem stands by itself. */
  #problem(status: number, codes: readonly ErrorCode[], dialect?: TSchema): JsonObject {
    const headers: JsonObject = {
      ...COMMON_HEADERS,
      "X-Error-Code": {
        required: true,
        description: "What happened, for programs.",
        schema: { type: "string", enum: [...codes] },
      },
    };
    if (status === 429 || status === 503 || status === 507) {
      headers["Retry-After"] = { $ref: "#/components/headers/Retry-After" };
    }
    const description = codes.map(errorMeaning).join(" ");
    if (dialect !== undefined) {
      const content = { [JSON_TYPE]: { schema: this.#printer.print(dialect) } };
      return { description, headers, content };
    }
    return this.#shared(codes.map(pascalCase).join("Or"), {
      description,
      headers,
      content: {
        [JSON_TYPE]: {
          schema: this.#printer.print(ErrorBody),
          examples: Object.fromEntries(codes.map((code) => [code, problemExample(code)])),
        },
      },
    });
  }

  #shared(name: string, printed: JsonObject): JsonObject {
    this.components[name] ??= printed;
    return { $ref: `#/components/responses/${name}` };
  }
}

/** Of a thing that was just made. */
const NEW: ExampleInput = { updated_at: BY_FORMAT["date-time"] };

/** What the example of the request says of the thing, so that its answer shows the same. */
function asked({ body }: Route): ExampleInput {
  if (body?.kind !== "json") return {};
  const { token: _secret, ...members } = Object(exampleOf(body.schema)) as JsonObject;
  return members;
}

function problemExample(code: ErrorCode): JsonObject {
  return { value: { success: false, message: errorMeaning(code) } };
}

/** `not_found` as `NotFound`. */
function pascalCase(code: string): string {
  return code.replaceAll(/(?:^|_)([a-z])/g, (_all, letter: string) => letter.toUpperCase());
}

function answerHeaders(route: Route, status: number, representations: Representations): JsonObject {
  const headers = { ...COMMON_HEADERS };
  if (status === 200 && representations.isTagged(route)) {
    headers.ETag = { $ref: "#/components/headers/ETag" };
  }
  if (status === 201 && representations.makes(route)) {
    headers.Location = { $ref: "#/components/headers/Location" };
  }
  if ((status === 201 || status === 202) && storesAnswer(route)) {
    headers["Idempotency-Replayed"] = { $ref: "#/components/headers/Idempotency-Replayed" };
  }
  return headers;
}
