import type { HttpRequest, HttpResponse } from "uWebSockets.js";
import type { BodyStream, Request, Route } from "../api/route.ts";
import type { Authenticator } from "../auth/authenticator.ts";
import type { Principal } from "../auth/principal.ts";
import { createDeferred, withTimeout } from "../base/deferred.ts";
import { AppError, errorMessage, toAppError } from "../base/errors.ts";
import type { Log } from "../base/log.ts";
import type { QueueFigures, QueueOwner } from "../base/queue-metrics.ts";
import type { Answer } from "./answer.ts";
import { bodyLength, checkBodyHead } from "./body-head.ts";
import { authenticateRoute, checkRole } from "./caller.ts";
import { Exchange } from "./exchange.ts";
import type { FrontObserver } from "./front-observer.ts";
import { Gate } from "./gate.ts";
import { Idempotency, type IdempotencyOptions } from "./idempotency.ts";
import { copyRequest, type Incoming, parseQuery } from "./incoming.ts";
import { CallerGone } from "./json-body.ts";
import type { Origins } from "./origins.ts";
import { Preconditions } from "./preconditions.ts";
import { PreparedRoute } from "./prepared-route.ts";
import { problemAnswer } from "./problem.ts";
import { enforce, type RateLimits, rateHeaders } from "./rate-limits.ts";
import { type Match, RouteTable } from "./route-table.ts";
import { readUpload, removeFile } from "./upload-body.ts";

export interface HttpLimits {
  jsonBytes: number;
  uploadBytes: number;
  jsonTimeoutMs: number;
  uploadTimeoutMs: number;
  handlerTimeoutMs: number;
  /** Requests served at the same time; more are told to come back. */
  concurrentRequests: number;
  /** Uploads received at the same time; more are told to come back. */
  concurrentUploads: number;
  /** Bodies streamed to callers at the same time. */
  concurrentDownloads: number;
  /** A caller that takes nothing of a streamed body for so long loses its connection. */
  downloadStallMs: number;
}

export const DEFAULT_HTTP_LIMITS: HttpLimits = {
  jsonBytes: 1024 * 1024,
  uploadBytes: 64 * 1024 * 1024,
  jsonTimeoutMs: 30_000,
  uploadTimeoutMs: 900_000,
  handlerTimeoutMs: 30_000,
  concurrentRequests: 4_096,
  concurrentUploads: 512,
  concurrentDownloads: 256,
  downloadStallMs: 20_000,
};

export interface HttpOptions {
  routes: readonly Route[];
  authenticator: Authenticator;
  rates: RateLimits;
  origins: Origins;
  idempotency: IdempotencyOptions;
  limits: HttpLimits;
  uploadFolder: string;
  /** Believe X-Forwarded-For; only behind a proxy that sets it. */
  trustProxy: boolean;
  observer?: FrontObserver | undefined;
  log: Log;
}

const PREFIX = "/api";

/** What is known of a request while it is served. */
interface Serving {
  exchange: Exchange;
  incoming: Incoming;
  extra: Record<string, string>;
  /** Once it is known. */
  route: Route | undefined;
}

/** Serves routes: the only place where a route meets a socket. */
export class HttpFront implements QueueOwner {
  readonly #options: HttpOptions;
  readonly #table: RouteTable;
  readonly #prepared: ReadonlyMap<Route, PreparedRoute>;
  readonly #idle: (() => void)[] = [];
  readonly #uploads: Gate;
  readonly #idempotency: Idempotency;
  readonly #preconditions: Preconditions;
  readonly #downloads: Gate;
  readonly #requests: Gate;
  #inFlight = 0;
  #leaving = false;
  #draining = false;

  constructor(options: HttpOptions) {
    this.#options = options;
    this.#table = new RouteTable(options.routes);
    this.#prepared = PreparedRoute.all(options.routes);
    this.#uploads = new Gate(options.limits.concurrentUploads, "uploads");
    this.#idempotency = new Idempotency(options.idempotency, options.log);
    this.#preconditions = new Preconditions(options.routes);
    this.#downloads = new Gate(options.limits.concurrentDownloads, "downloads");
    this.#requests = new Gate(options.limits.concurrentRequests, "requests");
  }

  get queues(): readonly QueueFigures[] {
    return [this.#requests, this.#uploads, this.#downloads].flatMap((gate) => gate.queues);
  }

  /** Serves on, but keeps no connection: callers come back elsewhere. */
  leave(): void {
    this.#leaving = true;
  }

  /** From now on every request is answered 503; resolves when none is in flight. */
  drain(): Promise<void> {
    this.#draining = true;
    if (this.#inFlight === 0) return Promise.resolve();
    const idle = createDeferred<void>();
    this.#idle.push(() => idle.resolve());
    return idle.promise;
  }

  /** Serves one request of uWebSockets.js; never throws. */
  handle(res: HttpResponse, req: HttpRequest): void {
    const incoming = copyRequest(res, req, this.#options.trustProxy);
    const exchange = new Exchange(res);
    const length = bodyLength(incoming.headers);
    if (length > 0) exchange.holdBody(length);
    const extra = {
      "X-Request-Id": incoming.id,
      ...this.#options.origins.headers(incoming.headers),
      ...(this.#leaving && { Connection: "close" }),
    };
    void this.#run({ exchange, incoming, extra, route: undefined });
  }

  async #run(serving: Serving): Promise<void> {
    const started = performance.now();
    this.#inFlight += 1;
    let failure: unknown;
    const answer = await this.#requests
      .run(() => this.#serve(serving))
      .catch((error: unknown) => {
        failure = error;
        return problemAnswer(error);
      });
    const status = await this.#send(serving, answer).catch((error: unknown) => {
      failure = error;
      return 500;
    });
    this.#inFlight -= 1;
    if (this.#inFlight === 0) for (const resolve of this.#idle.splice(0)) resolve();
    this.#report(serving, status, performance.now() - started, failure);
  }

  /** The status as sent; 499 when nobody was there any more. */
  async #send({ exchange, incoming, extra }: Serving, answer: Answer): Promise<number> {
    const head = incoming.method === "HEAD";
    try {
      if (answer.stream !== undefined) {
        return await this.#sendStream(exchange, answer, answer.stream, extra, head);
      }
      return exchange.send(answer, extra, head) ? answer.status : 499;
    } catch (error) {
      // The answer itself cannot be written: say so rather than nothing.
      this.#options.log.error({ error: errorMessage(error) }, "answer could not be sent");
      const problem = problemAnswer(error);
      return exchange.send(problem, extra, head) ? problem.status : 499;
    }
  }

  async #sendStream(
    exchange: Exchange,
    answer: Answer,
    stream: BodyStream,
    extra: Readonly<Record<string, string>>,
    head: boolean,
  ): Promise<number> {
    if (head) return exchange.sendStreamHead(answer, stream, extra) ? answer.status : 499;
    const { downloadStallMs: stallMs, handlerTimeoutMs: sourceMs } = this.#options.limits;
    const whole = await this.#downloads.run(() =>
      exchange.stream(answer, stream, extra, { stallMs, sourceMs }),
    );
    return whole ? answer.status : 499;
  }

  #report(serving: Serving, status: number, ms: number, failure: unknown): void {
    const { incoming, route } = serving;
    const { method } = incoming;
    const path = route?.path ?? "none";
    this.#options.observer?.served({ method, route: path, status, seconds: ms / 1_000 });
    const fields = {
      method,
      route: route?.id ?? "none",
      status,
      ms: Math.round(ms * 10) / 10,
      request_id: incoming.id,
    };
    if (status < 400 && route?.frequent !== true) {
      return this.#options.log.info(fields, "request");
    }
    if (status < 500) return this.#options.log.debug(fields, "request");
    this.#options.log.error({ ...fields, ...causeOf(failure) }, "request failed");
  }

  async #serve(serving: Serving): Promise<Answer> {
    const { incoming, extra } = serving;
    if (this.#draining) {
      extra.Connection = "close";
      throw new AppError("unavailable", "The service is stopping. Please try again.", {
        retryAfter: 1,
      });
    }
    const verdict = this.#options.rates.address(incoming.address);
    Object.assign(extra, rateHeaders(verdict));
    enforce(verdict);
    const match = this.#match(incoming);
    if (match.kind === "unknown") {
      throw new AppError("not_found", "There is nothing at this address.");
    }
    if (incoming.method === "OPTIONS") return this.#answerOptions(serving, match);
    if (match.kind === "wrong_method") return wrongMethod(incoming, match.allow);
    serving.route = match.route;
    return this.#serveRoute(serving, match.route, match.params);
  }

  #match(incoming: Incoming): Match {
    const inside = incoming.path.startsWith(`${PREFIX}/`);
    return inside
      ? this.#table.match(incoming.method, incoming.path.slice(PREFIX.length))
      : { kind: "unknown" };
  }

  #answerOptions({ incoming, extra }: Serving, match: Match): Answer {
    const allow = match.kind === "wrong_method" ? match.allow : [];
    Object.assign(extra, this.#options.origins.preflight(incoming.headers, allow));
    return { status: 204, headers: { Allow: allow.join(", ") } };
  }

  async #serveRoute(
    serving: Serving,
    route: Route,
    params: Record<string, string>,
  ): Promise<Answer> {
    const { incoming, exchange, extra } = serving;
    const { limits, authenticator, rates } = this.#options;
    const limit = route.body?.kind === "upload" ? limits.uploadBytes : limits.jsonBytes;
    checkBodyHead(route, incoming.headers, limit);
    const prepared = this.#prepared.get(route);
    if (prepared === undefined) throw new Error(`The route ${route.id} was not prepared.`);
    const json = await prepared.readJson(exchange, limit, limits.jsonTimeoutMs);
    const principal = await withTimeout(
      authenticateRoute(route, incoming.headers, authenticator),
      limits.handlerTimeoutMs,
      "Checking who calls",
    );
    const verdict = rates.caller(route, principal, incoming.address);
    Object.assign(extra, rateHeaders(verdict));
    enforce(verdict);
    checkRole(route, principal);
    const request = buildRequest(serving, prepared.params(params), principal);
    return this.#call(serving, prepared, request, json);
  }

  async #call(
    serving: Serving,
    prepared: PreparedRoute,
    request: Request,
    json: Buffer | undefined,
  ): Promise<Answer> {
    const ms = this.#options.limits.handlerTimeoutMs;
    const { route } = prepared;
    const resource = await withTimeout(Promise.resolve(route.resolve?.(request)), ms, "The lookup");
    request.query = prepared.query(request.query);
    request.body = prepared.body(json);
    if (request.headers["if-match"] !== undefined) {
      await withTimeout(this.#preconditions.check(route, request), ms, "Checking If-Match");
    }
    if (route.body?.kind !== "upload") {
      const { path, query } = serving.incoming;
      const work = this.#idempotency.run(route, request, `${path}?${query}`, () =>
        route.handle(request, resource),
      );
      const reply = await withTimeout(work, ms, "The request");
      return this.#preconditions.finish(route, request, reply);
    }
    return this.#callWithUpload(serving, route, request, resource);
  }

  async #callWithUpload(
    { exchange, incoming }: Serving,
    route: Route,
    request: Request,
    resource: unknown,
  ): Promise<Answer> {
    const { limits, uploadFolder } = this.#options;
    const upload = await this.#uploads.run(() =>
      readUpload(exchange, incoming.headers, {
        folder: uploadFolder,
        bytes: limits.uploadBytes,
        timeoutMs: limits.uploadTimeoutMs,
      }),
    );
    const work = Promise.resolve(route.handle({ ...request, upload }, resource));
    // The handler may outlive its time limit and still need the file.
    const done = upload.content.kind === "file" ? removeAfter(work, upload.content.path) : work;
    const answer = await withTimeout(work, limits.handlerTimeoutMs, "Storing the upload");
    await done;
    return answer;
  }
}

async function removeAfter(work: Promise<unknown>, path: string): Promise<void> {
  await work.catch(() => {});
  await removeFile(path);
}

function buildRequest(
  { exchange, incoming }: Serving,
  params: Record<string, string>,
  principal: Principal | undefined,
): Request {
  return {
    id: incoming.id,
    method: incoming.method,
    params,
    query: parseQuery(incoming.query),
    headers: incoming.headers,
    body: undefined,
    principal,
    address: incoming.address,
    get signal() {
      return exchange.signal;
    },
  };
}

function wrongMethod(incoming: Incoming, allow: readonly string[]): Answer {
  const message = `${incoming.method} is not possible here; ${allow.join(", ")} are.`;
  const answer = problemAnswer(new AppError("method_not_allowed", message));
  return { ...answer, headers: { ...answer.headers, Allow: allow.join(", ") } };
}

/** What the log needs to find the fault; never what the caller sent. */
function causeOf(failure: unknown): object {
  if (failure instanceof CallerGone) return {};
  const error = toAppError(failure);
  const cause = error.cause ?? failure;
  return {
    code: error.code,
    error: errorMessage(cause),
    stack: cause instanceof Error ? cause.stack : undefined,
  };
}
