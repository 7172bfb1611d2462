import { Ajv2020 } from "ajv/dist/2020.js";
import addFormats from "ajv-formats";

type Members = Record<string, unknown>;

export interface CallOptions {
  /** JSON unless it is a form, a string or bytes. */
  body?: unknown;
  bearer?: string;
  apiKey?: string;
  headers?: Record<string, string>;
  /** How long the answer may take; 60 s unless given. */
  timeoutMs?: number;
}

export interface CallAnswer<T = Members> {
  status: number;
  body: T;
  text: string;
  headers: Headers;
  /** X-Error-Code. */
  code: string | null;
}

interface OpenApi {
  paths: Record<
    string,
    Record<string, { responses: Record<string, ResponseObject | { $ref: string }> }>
  >;
  components: { responses?: Record<string, ResponseObject> };
}

interface ResponseObject {
  headers?: Record<string, { schema?: { enum?: string[] } }>;
  content?: Record<string, { schema?: object }>;
}

const DOCUMENT = "openapi.json";

/**
 * Calls a running service and holds every answer against its OpenAPI document:
 * an undeclared path, status, media type or error code, or a body off its
 * schema, throws.
 */
export class ApiClient {
  readonly #base: string;
  readonly #document: OpenApi;
  readonly #ajv: Ajv2020;

  private constructor(base: string, text: string) {
    this.#base = base;
    const { document, ajv } = compiled(text);
    this.#document = document;
    this.#ajv = ajv;
  }

  /** `base` is the address up to and including `/api`. */
  static async connect(base: string): Promise<ApiClient> {
    const response = await fetch(`${base}/openapi.json`);
    if (!response.ok) throw new Error(`No OpenAPI document at ${base}: ${response.status}.`);
    return new ApiClient(base, await response.text());
  }

  async call<T = Members>(
    method: string,
    path: string,
    options: CallOptions = {},
  ): Promise<CallAnswer<T>> {
    const signal = AbortSignal.timeout(options.timeoutMs ?? 60_000);
    const init = { method, signal, ...encode(options) };
    const response = await fetch(`${this.#base}${path}`, init);
    return this.judge<T>(method, path, response, await response.text());
  }

  /** Holds an answer that came on another way against the document; throws as `call` does. */
  judge<T = Members>(
    method: string,
    path: string,
    response: Pick<Response, "status" | "headers">,
    text: string,
  ): CallAnswer<T> {
    const what = `${method} ${path} answered ${response.status}`;
    const template = this.#template(path.split("?")[0] ?? path);
    if (template === undefined) throw new Error(`${what}, but no such path is declared.`);
    const body = this.#check(what, template, method.toLowerCase(), response, text);
    const code = response.headers.get("x-error-code");
    return { status: response.status, body: body as T, text, headers: response.headers, code };
  }

  #check(
    what: string,
    template: string,
    method: string,
    response: Pick<Response, "status" | "headers">,
    text: string,
  ): unknown {
    const named = this.#document.paths[template]?.[method]?.responses[response.status];
    const shared = named !== undefined && "$ref" in named ? nameOf(named.$ref) : undefined;
    const declared =
      shared === undefined
        ? (named as ResponseObject | undefined)
        : this.#document.components.responses?.[shared];
    if (declared === undefined) throw new Error(`${what}, which is not declared: ${text}`);
    const codes = declared.headers?.["X-Error-Code"]?.schema?.enum;
    const code = response.headers.get("x-error-code");
    if (codes !== undefined && !codes.includes(code ?? "")) {
      throw new Error(`${what} with the code ${code}, which is not declared there.`);
    }
    if (text === "" && declared.content === undefined) return undefined;
    const type = (response.headers.get("content-type") ?? "").split(";")[0] ?? "";
    if (declared.content?.[type] === undefined) throw new Error(`${what} as ${type || "nothing"}.`);
    if (type !== "application/json") return text;
    const body: unknown = JSON.parse(text);
    const place =
      shared === undefined
        ? ["paths", template, method, "responses", `${response.status}`]
        : ["components", "responses", shared];
    this.#validate(what, [...place, "content", type, "schema"], body);
    return body;
  }

  #validate(what: string, pointer: readonly string[], body: unknown): void {
    const escaped = pointer.map((part) => part.replaceAll("~", "~0").replaceAll("/", "~1"));
    const reference = `${DOCUMENT}#/${escaped.map(encodeURIComponent).join("/")}`;
    const validate = this.#ajv.getSchema(reference);
    if (validate === undefined) return;
    if (validate(body) === true) return;
    throw new Error(
      `${what} off its schema: ${this.#ajv.errorsText(validate.errors)}: ${JSON.stringify(body)}`,
    );
  }

  /** The declared path with the most literal segments that fits. */
  #template(path: string): string | undefined {
    const segments = path.split("/");
    return Object.keys(this.#document.paths)
      .filter((template) => fits(template.split("/"), segments))
      .sort((one, other) => one.split("{").length - other.split("{").length)[0];
  }
}

/** Of the newest document: the services of most files have the same one, and its checks take time. */
let newest: { text: string; document: OpenApi; ajv: Ajv2020 } | undefined;

function compiled(text: string): { document: OpenApi; ajv: Ajv2020 } {
  if (newest?.text !== text) {
    const document = JSON.parse(text) as OpenApi;
    const ajv = new Ajv2020({ strict: false, validateSchema: false });
    addFormats.default(ajv);
    ajv.addSchema(document, DOCUMENT);
    newest = { text, document, ajv };
  }
  return newest;
}

function nameOf(reference: string): string {
  return reference.split("/").at(-1) ?? "";
}

function fits(template: readonly string[], segments: readonly string[]): boolean {
  return (
    template.length === segments.length &&
    template.every((part, index) => part.startsWith("{") || part === segments[index])
  );
}

function encode({ body, bearer, apiKey, headers }: CallOptions): RequestInit {
  const sent: Record<string, string> = { ...headers };
  if (bearer !== undefined) sent.authorization = `Bearer ${bearer}`;
  if (apiKey !== undefined) sent["x-api-key"] = apiKey;
  if (body === undefined) return { headers: sent };
  if (body instanceof FormData || body instanceof Uint8Array || typeof body === "string") {
    return { headers: sent, body: body as NonNullable<RequestInit["body"]> };
  }
  return {
    headers: { "content-type": "application/json", ...sent },
    body: JSON.stringify(body),
  };
}
