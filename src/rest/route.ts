import { type Static, type TSchema, Type } from "@sinclair/typebox";
import type { Principal, Role } from "../access/principal.ts";
import type { AppError, ErrorCode } from "../base/errors.ts";

/** `{success: true, message}`: the answer of an action that returns no resource. */
const acknowledgementSchema = Type.Object(
  {
    success: Type.Literal(true),
    message: Type.String(),
  },
  { $id: "Acknowledgement" },
);

/** Declares such an answer, with this message as its example. */
export function acknowledged(message: string): ResponseSpec {
  return { description: message, schema: acknowledgementSchema, example: { message } };
}

export function acknowledge(message: string): Reply {
  return { status: 200, body: { success: true, message } };
}

/**
 * A route as a value: the front serves it, OpenAPI prints it, tests call it.
 *
 * The front checks in this order: the per-address limit and 413/415 by the head; 401 by `auth`, the
 * caller's limit, 403 by `roles`; then it reads the body; then `resolve`, which throws 404 or 403 for the resource named in the path; then
 * query and body against their schemas (400); then If-Match (412) and the Idempotency-Key; then
 * `handle`.
 */
export interface Route {
  method: "get" | "post" | "put" | "patch" | "delete";
  /** Path below /api, with `{name}` for path parameters. */
  path: string;
  id: string;
  tag: Tag;
  summary: string;
  description?: string;
  /** Accepted credentials; empty means no authentication. */
  auth: readonly Credential[];
  /**
   * True when a device may call it for 24 h after the end of its right, to bring what it had begun:
   * whatever ends a right, it does not end the backlog of a recording.
   */
  endedDevices?: true;
  /** Roles that may call, when not every role of the credential may. */
  roles?: readonly Role[];
  params?: TSchema;
  query?: TSchema;
  /** Headers that `handle` reads, and checks, itself. */
  headers?: TSchema;
  body?: BodySpec;
  /** Success answers by status; 204 has no schema. */
  responses: Readonly<Record<number, ResponseSpec>>;
  /**
   * Error codes of this route; those that follow from its declaration, and those of all routes, are
   * added.
   */
  errors?: readonly ErrorCode[];
  /**
   * For a GET: whether it returns one resource, which then has an ETag, on this route and on edits
   * of the same path. By default true when its path ends in a parameter.
   */
  etag?: boolean;
  /**
   * The answer, if it is constant and public: the front keeps it serialised. It is not rate
   * limited, since a refusal would cost as much.
   */
  ready?: Reply;
  /**
   * True when the answer's body never changes while the process runs: it is serialised and
   * compressed once.
   */
  constant?: true;
  /**
   * True when the request becomes a command to a session's actor: a caller who does not learn its
   * outcome can repeat it with the same Idempotency-Key.
   */
  throughActor?: true;
  /**
   * True when the session itself refuses a stale If-Match of a command with an Idempotency-Key:
   * only it knows whether an earlier attempt of the same command has changed the resource.
   */
  settlesStale?: true;
  /**
   * True when it carries out other routes for its caller, with `Request.call`. All of them read, and
   * their answers are not kept for an Idempotency-Key.
   */
  calls?: true;
  /** How errors are told where another service's clients read them; else as everywhere here. */
  dialect?: ErrorDialect;
  /** Further headers of the answer to OPTIONS. */
  optionsHeaders?: Readonly<Record<string, string>>;
  /** Longest time for its handler, where it is not the usual one, milliseconds. */
  timeoutMs?: number;
  /** True for calls that are so frequent that successful ones are logged at `debug` only. */
  frequent?: true;
  /** Members of the resource that change by themselves: they do not make an edit stale. */
  volatile?: readonly string[];
  resolve?(request: Request): Promise<unknown>;
  /**
   * Called when an upload is admitted, and as its bytes come, until it is complete. Must not throw.
   */
  receiving?(request: Request): void;
  /**
   * Called with the first bytes of an uploaded file, before the rest of it is taken, and with its
   * declared type. Returns why the file is refused, if it is; must not throw.
   */
  refusesUpload?(head: Uint8Array, mediaType: string, request: Request): AppError | undefined;
  handle(request: Request, resource: unknown): Promise<Reply>;
  /**
   * Answers a request that was repeated with its Idempotency-Key, by the `id` in the first answer, as
   * the caller may read it now. Of routes whose answer has content of the session that they made:
   * then its id alone is stored. Absent: the first answer is stored, and repeated as it was.
   */
  repeat?(id: string, request: Request): Promise<Reply>;
}

/** The form in which another service tells errors, for its clients. */
export interface ErrorDialect {
  /** The paths on which it is spoken, also where nothing is: `/compat/openai/`. */
  prefix: string;
  schema: TSchema;
  /** The status that those clients expect for the code. */
  status(code: ErrorCode): number;
  body(error: AppError, requestId: string): unknown;
}

export type Tag =
  | "Admin"
  | "ApiKey"
  | "Auth"
  | "Compat"
  | "Concerns"
  | "Device"
  | "Graph"
  | "Health"
  | "Job"
  | "Session"
  | "Workshop"
  | "Workspace";

/**
 * A kind of credential. `bearer` is a user's or guest's access token, `device_key` and
 * `service_key` an `X-API-Key`; `compat_key` is a service key with the scope `transcribe` as
 * `Authorization: Bearer` or `Token`, which no other route takes; `refresh` and `pairing_secret` are
 * bearers that the route itself checks, `refresh_cookie` is a refresh token in a cookie,
 * `guest_cookie` the secret of a guest in one.
 */
export type Credential =
  | "bearer"
  | "device_key"
  | "service_key"
  | "compat_key"
  | "refresh"
  | "refresh_cookie"
  | "guest_cookie"
  | "pairing_secret";

type BodySpec = JsonSpec | UploadSpec | BytesSpec;

interface JsonSpec<B extends TSchema = TSchema> {
  kind: "json";
  schema: B;
  optional?: boolean;
  /** Its strings may hold characters that PostgreSQL cannot store. */
  anyText?: boolean;
  /** Unknown members are refused: without a misspelt one more would be done than was asked for. */
  closed?: boolean;
}

/**
 * A body of raw bytes of one of the media types, or a multipart form with a `file`; the handler gets
 * an `Upload`, and checks what it is itself.
 */
interface UploadSpec {
  kind: "upload";
  /** Fields of the form besides the file. */
  form?: TSchema;
  mediaTypes?: readonly string[];
}

/** A body of any length, whose bytes the handler takes as they come, with `Request.receive`. */
interface BytesSpec {
  kind: "bytes";
  /** The one that it has to be of. */
  mediaType: string;
}

/** Where the bytes of a body go. */
export interface ByteSink {
  /** False when the sender should wait for `onDrain`. */
  write(chunk: Buffer): boolean;
  /** Called when there is room again; set by whoever sends. */
  onDrain: () => void;
  /** Rejects when the bytes cannot be stored. */
  readonly failed: Promise<never>;
}

export interface ResponseSpec {
  description: string;
  schema?: TSchema;
  /** Members that the document's example has otherwise than its schema says; undefined: has not. */
  example?: Readonly<Record<string, unknown>>;
  /** Media types other than JSON, e.g. text/plain. */
  mediaTypes?: readonly string[];
}

/** A request after the front has copied it from the socket. */
export interface Request {
  id: string;
  method: string;
  /** Path parameters, decoded. */
  params: Readonly<Record<string, string>>;
  query: Readonly<Record<string, unknown>>;
  /** Headers by lower-case name. */
  headers: Readonly<Record<string, string>>;
  /** Validated against the body schema; undefined when there is none. */
  body: unknown;
  upload?: Upload;
  /**
   * Gives a body of bytes to the sink, at most so many. Rejects when it breaks off, is longer or too
   * slow, or when the caller's right ends; what came before that was given to the sink. Resolves with
   * what `finish` makes of a whole one.
   */
  receive?: <T>(sink: ByteSink, most: number, finish: () => Promise<T>) => Promise<T>;
  /** Carries out another route for the same caller; of routes with `calls`. */
  call?: RouteCall;
  /**
   * The resource as the caller's If-Match knew it, and as it was just now. A store that supports
   * this compares it with the row under its lock, so that of two concurrent edits one is refused.
   */
  expected?: unknown;
  /**
   * True when the caller's If-Match is stale and, by `Route.settlesStale`, the session refuses it.
   */
  isStale?: boolean;
  principal: Principal | undefined;
  /**
   * Id of the command that the request becomes: the same when it is repeated with its
   * Idempotency-Key.
   */
  commandId?: string;
  /** The caller's address, for records of who it was. */
  address: string;
  /** What limits count the address by: an IPv4 address, or the /64 of an IPv6 address. */
  network: string;
  /** Aborted when the caller disconnects. */
  signal: AbortSignal;
}

/**
 * Carries out the route with this id as if the caller had asked for it: the same credentials, limits,
 * roles and checks hold, and it rejects with the same errors. Returns the body of its answer.
 */
export type RouteCall = <T>(id: string, given: CallInput) => Promise<T>;

/** Members that are undefined count as left out. */
export interface CallInput {
  params?: Readonly<Record<string, string>>;
  query?: Readonly<Record<string, unknown>>;
  body?: unknown;
}

/**
 * The content of an upload: a small body is in memory, a larger one in a temporary file that is
 * removed after the request.
 */
export type UploadContent = { kind: "memory"; data: Buffer } | { kind: "file"; path: string };

/** An uploaded body that has arrived completely. */
export interface Upload {
  content: UploadContent;
  bytes: number;
  /** SHA-256 in hex. */
  sha256: string;
  /** The declared media type in lower case; `application/octet-stream` when absent. */
  mediaType: string;
  filename: string;
  /** Other fields of a multipart body; the values of a list (`name[]`) are joined by commas. */
  fields: Readonly<Record<string, string>>;
}

export interface Reply {
  status: number;
  /** The body, sent as JSON unless it is text with its own `content-type` header. */
  body?: unknown;
  /** A body that is produced while it is sent; needs a `content-type` header. */
  stream?: BodyStream;
  /** A text whose length nobody knows beforehand; needs a `content-type` header. */
  events?: EventStream;
  headers?: Record<string, string>;
}

/** A body of known length that is not held in memory. */
export interface BodyStream {
  length: number;
  /**
   * Yields exactly `length` bytes; each part is buffered whole for a slow client. Called at most
   * once, and not for HEAD; the next part is requested only when the previous one was taken.
   * `signal` aborts when the caller disconnects.
   */
  open(signal: AbortSignal): AsyncIterable<Uint8Array>;
}

/** A text that is sent as it comes about, for as long as its source gives some. */
export interface EventStream {
  /**
   * Yields the next text whenever there is one. The connection ends when none comes for 10 s, so a
   * source that waits gives something without meaning. Each part is taken before the next one is
   * asked for. What it throws ends the connection, as the answer has begun.
   */
  open(signal: AbortSignal): AsyncIterable<string>;
}

/** Roles of users with an account. */
export const HUMAN_ROLES: readonly Role[] = ["admin", "participant", "moderator"];

/** Derives the types of a route's handler from its schemas; adds nothing at run time. */
export function defineRoute<
  R = undefined,
  P extends TSchema = TSchema,
  Q extends TSchema = TSchema,
  B extends TSchema = TSchema,
>(route: TypedRoute<R, P, Q, B>): Route {
  return route as unknown as Route;
}

type TypedRequest<P extends TSchema, Q extends TSchema, B extends TSchema> = Omit<
  Request,
  "params" | "query" | "body"
> & { params: Static<P>; query: Static<Q>; body: Static<B> };

interface TypedRoute<R, P extends TSchema, Q extends TSchema, B extends TSchema>
  extends Omit<Route, "params" | "query" | "body" | "resolve" | "handle"> {
  params?: P;
  query?: Q;
  body?: JsonSpec<B> | UploadSpec | BytesSpec;
  resolve?(request: TypedRequest<P, TSchema, TSchema>): Promise<R>;
  handle(request: TypedRequest<P, Q, B>, resource: R): Promise<Reply>;
}
