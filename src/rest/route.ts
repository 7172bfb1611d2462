import { type Static, type TSchema, Type } from "@sinclair/typebox";
import type { Principal, Role } from "../access/principal.ts";
import type { ErrorCode } from "../base/errors.ts";

/** `{success: true, message}`: the answer of an action that returns no resource. */
export const acknowledgementSchema = Type.Object({
  success: Type.Literal(true),
  message: Type.String(),
});

export function acknowledge(message: string): Reply {
  return { status: 200, body: { success: true, message } };
}

/**
 * A route is a value: the front mounts it, OpenAPI prints it, tests call it.
 *
 * The front checks in this order: 413/415 and the per-address
 * limit while reading; 401 by `auth`; 403 by `roles`; then `resolve`, which
 * throws 404 or 403 for the thing named in the path; then query and body
 * against their schemas (400); then If-Match (412) and the Idempotency-Key;
 * then `handle`.
 */
export interface Route {
  method: "get" | "post" | "put" | "patch" | "delete";
  /** Below /api, with `{name}` for path parameters. */
  path: string;
  id: string;
  tag: Tag;
  summary: string;
  description?: string;
  /** Who may call at all; empty means no authentication. */
  auth: readonly Credential[];
  /** Roles that may call, when not every role of the credential may. */
  roles?: readonly Role[];
  params?: TSchema;
  query?: TSchema;
  body?: BodySpec;
  /** Success answers by status; 204 has no schema. */
  responses: Readonly<Record<number, ResponseSpec>>;
  /** Error codes of its own; those that follow from what it says here, and those of all, are added. */
  errors?: readonly ErrorCode[];
  /**
   * On a GET: does it show one thing, which then has an ETag, on this route and
   * on the edits of the same path? By default when its path ends in a parameter.
   */
  etag?: boolean;
  /**
   * The answer, where it is always the same and anybody may have it: the front keeps it ready.
   * It draws on no budget, since a refusal would cost as much.
   */
  ready?: Reply;
  /**
   * The answer's body never changes while the process runs: it is turned into bytes, and
   * compressed, once.
   */
  constant?: true;
  /**
   * A wish to a session's actor: a caller who is not told what became of it asks again with the same
   * Idempotency-Key.
   */
  wish?: true;
  /**
   * Of a wish with an Idempotency-Key the session itself refuses a stale If-Match: it knows whether
   * that very wish, asked before, has changed the thing since.
   */
  settlesStale?: true;
  /** Called so often by so many that each call that went well is no line of the log. */
  frequent?: true;
  /** Members of that thing which change by themselves: an edit is not stale for them. */
  volatile?: readonly string[];
  resolve?(request: Request): Promise<unknown>;
  /** Told of an upload when it is let in, and as its bytes come, until all are there. Must not throw. */
  receiving?(request: Request): void;
  handle(request: Request, resource: unknown): Promise<Reply>;
}

export type Tag =
  | "Admin"
  | "ApiKey"
  | "Auth"
  | "Concerns"
  | "Device"
  | "Graph"
  | "Health"
  | "Job"
  | "Session"
  | "Workshop"
  | "Workspace";

/**
 * What proves the caller. `bearer` is a user's or guest's access token,
 * `device_key` and `service_key` an `X-API-Key`, `refresh` and `pairing_secret` are bearers of
 * their own kind that the route itself checks.
 */
export type Credential = "bearer" | "device_key" | "service_key" | "refresh" | "pairing_secret";

type BodySpec =
  | { kind: "json"; schema: TSchema; optional?: boolean }
  /** Bytes as they come; the handler gets an `Upload`. */
  | { kind: "upload" };

export interface ResponseSpec {
  description: string;
  schema?: TSchema;
  /** Other than JSON, e.g. text/plain. */
  mediaTypes?: readonly string[];
}

/** A request after the front copied it out of the socket. */
export interface Request {
  id: string;
  method: string;
  /** Path parameters, decoded. */
  params: Readonly<Record<string, string>>;
  query: Readonly<Record<string, unknown>>;
  /** Lower-case names. */
  headers: Readonly<Record<string, string>>;
  /** Validated against the body schema; undefined when there is none. */
  body: unknown;
  upload?: Upload;
  /**
   * The thing as the caller's If-Match knew it, and as it was just now. A store
   * that can holds it against the row under its lock, so that of two edits at
   * once one is refused.
   */
  expected?: unknown;
  /** The caller's If-Match is stale, and `Route.settlesStale` says who refuses it. */
  isStale?: boolean;
  principal: Principal | undefined;
  /** Of the command that it comes to: the same when it is repeated with its Idempotency-Key. */
  commandId?: string;
  /** The caller's address, for per-address limits. */
  address: string;
  /** Aborted when the caller went away. */
  signal: AbortSignal;
}

/** A small body is in memory; a larger one is in a temporary file that is removed after the request. */
export type UploadContent = { kind: "memory"; data: Buffer } | { kind: "file"; path: string };

/** An uploaded body that has arrived completely. */
export interface Upload {
  content: UploadContent;
  bytes: number;
  /** SHA-256 in hex. */
  sha256: string;
  /** As declared, lower case; `application/octet-stream` when absent. */
  mediaType: string;
  filename: string;
  /** Other fields of a multipart body. */
  fields: Readonly<Record<string, string>>;
}

export interface Reply {
  status: number;
  /** Sent as JSON unless it is text with its own `content-type` header. */
  body?: unknown;
  /** Instead of a body: bytes that are made while they are sent; needs a `content-type` header. */
  stream?: BodyStream;
  headers?: Record<string, string>;
}

/** A body of known length that nobody has to hold in memory. */
export interface BodyStream {
  length: number;
  /**
   * Gives exactly `length` bytes, in pieces as large as may wait for a slow
   * client. Called at most once, and not for HEAD; asked for the next piece
   * only when the one before was taken. `signal` aborts when the caller left.
   */
  open(signal: AbortSignal): AsyncIterable<Uint8Array>;
}

/** Roles of whoever has an account. */
export const PEOPLE: readonly Role[] = ["admin", "participant", "moderator"];

/** Types a route's handler by its schemas; adds nothing at run time. */
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
  body?: { kind: "json"; schema: B; optional?: boolean } | { kind: "upload" };
  resolve?(request: TypedRequest<P, TSchema, TSchema>): Promise<R>;
  handle(request: TypedRequest<P, Q, B>, resource: R): Promise<Reply>;
}
