import type { HttpRequest, HttpResponse, TemplatedApp } from "uWebSockets.js";
import type { Authenticator } from "../../access/authenticator.ts";
import type { Principal } from "../../access/principal.ts";
import { createDeferred, withTimeout } from "../../base/deferred.ts";
import { AppError, errorMessage, toAppError } from "../../base/errors.ts";
import type { RateVerdict } from "../../base/gcra.ts";
import type { Log } from "../../base/log.ts";
import type { QueueFigures, QueueOwner } from "../../base/queue-metrics.ts";
import type { BodyStream, Request, Route } from "../../rest/route.ts";
import { authenticateRoute, checkRole, type Origins } from "./caller.ts";
import { Compression } from "./compression.ts";
import { Exchange } from "./exchange.ts";
import { FirstPage } from "./first-page.ts";
import type { HttpLimits } from "./http-limits.ts";
import { Idempotency, type IdempotencyOptions } from "./idempotency.ts";
import { ConcurrencyLimit, enforce, type RateLimits } from "./limits.ts";
import type { FrontObserver } from "./observer.ts";
import { Preconditions } from "./preconditions.ts";
import { nothingAt, problemAnswer, wrongMethod } from "./problem.ts";
import { ReadyAnswer } from "./ready-answer.ts";
import { copyRequest, type Incoming } from "./request.ts";
import { bodyLength, checkBodyHead, readBytes, ServedRequest } from "./request-body.ts";
import { logRequest } from "./request-log.ts";
import type { Answer } from "./response.ts";
import { type Match, PreparedRoute, RouteTable } from "./routing.ts";
import { readUpload, removeAfter } from "./upload-body.ts";

interface HttpOptions {
  routes: readonly Route[];
  authenticator: Authenticator;
  rates: RateLimits;
  origins: Origins;
  idempotency: IdempotencyOptions;
  limits: HttpLimits;
  uploadFolder: string;
  /** Number of consecutive proxies in front of us whose X-Forwarded headers are trusted. */
  trustProxy: number;
  observer?: FrontObserver | undefined;
  log: Log;
}

const PREFIX = "/api";

/** The state of a request while it is served. */
interface Serving {
  exchange: Exchange;
  incoming: Incoming;
  /** Monotonic milliseconds. */
  startedAt: number;
  /** Undefined until the route is known. */
  route: Route | undefined;
  params: Readonly<Record<string, string>>;
  principal: Principal | undefined;
  /** The verdict of the latest rate limit that was checked. */
  verdict: RateVerdict | undefined;
  /** Additional headers for the answer. */
  more: Readonly<Record<string, string>> | undefined;
  /** True when the connection ends with the answer. */
  close: boolean;
}

/** A request that may be carried out, and the resource it is about. */
interface Admitted {
  request: Request;
  resource: unknown;
}

/** Serves routes over uWebSockets.js. */
export class HttpFront implements QueueOwner {
  readonly #options: HttpOptions;
  readonly #table: RouteTable;
  readonly #firstPage = new FirstPage();
  readonly #prepared: ReadonlyMap<Route, PreparedRoute>;
  readonly #idle: (() => void)[] = [];
  readonly #uploads: ConcurrencyLimit;
  readonly #idempotency: Idempotency;
  readonly #preconditions: Preconditions;
  readonly #compression: Compression;
  readonly #downloads: ConcurrencyLimit;
  readonly #requests: ConcurrencyLimit;
  #inFlight = 0;
  #leaving = false;
  #draining = false;

  constructor(options: HttpOptions) {
    this.#options = options;
    this.#table = new RouteTable(options.routes);
    this.#prepared = PreparedRoute.all(options.routes);
    this.#uploads = new ConcurrencyLimit(options.limits.concurrentUploads, "uploads");
    this.#idempotency = new Idempotency(options.idempotency, options.log);
    this.#preconditions = new Preconditions(options.routes);
    this.#compression = new Compression(options.routes);
    this.#downloads = new ConcurrencyLimit(options.limits.concurrentDownloads, "downloads");
    this.#requests = new ConcurrencyLimit(options.limits.concurrentRequests, "requests");
  }

  get queues(): readonly QueueFigures[] {
    return [this.#requests, this.#uploads, this.#downloads].flatMap((inFlight) => inFlight.queues);
  }

  /** Closes each connection after its answer, so that callers reconnect to another process. */
  leave(): void {
    this.#leaving = true;
  }

  /** Answers every further request with 503; resolves when no request is running. */
  drain(): Promise<void> {
    this.#draining = true;
    if (this.#inFlight === 0) return Promise.resolve();
    const idle = createDeferred<void>();
    this.#idle.push(() => idle.resolve());
    return idle.promise;
  }

  mount(app: TemplatedApp): void {
    const { routes, observer, origins } = this.#options;
    // With allowed origins, answers depend on the request and cannot be prepared.
    const ready = origins.any ? [] : routes.filter((route) => route.ready !== undefined);
    for (const route of ready) {
      const answer = new ReadyAnswer(route, observer);
      app.get(`${PREFIX}${route.path}`, (res, req) => {
        if (this.#leaving || this.#draining || !answer.serve(res, req)) this.#handle(res, req);
      });
    }
    app.any("/*", (res, req) => this.#handle(res, req));
  }

  /** Serves one request of uWebSockets.js; never throws. */
  #handle(res: HttpResponse, req: HttpRequest): void {
    const startedAt = performance.now();
    const incoming = copyRequest(res, req, this.#options.trustProxy);
    const exchange = new Exchange(res, incoming.id, startedAt);
    const length = bodyLength(incoming.headers);
    if (length > 0) exchange.holdBody(length);
    void this.#run({
      exchange,
      incoming,
      startedAt,
      route: undefined,
      params: {},
      principal: undefined,
      verdict: undefined,
      more: undefined,
      close: this.#leaving || isLast(incoming),
    });
  }

  async #run(serving: Serving): Promise<void> {
    this.#inFlight += 1;
    let failure: unknown;
    let answer: Answer;
    try {
      answer = await this.#enter(serving);
    } catch (error) {
      failure = error;
      answer = problemAnswer(error);
    }
    let status: number;
    try {
      const sent = this.#send(serving, answer);
      status = typeof sent === "number" ? sent : await sent;
    } catch (error) {
      failure = error;
      status = 500;
    }
    this.#inFlight -= 1;
    if (this.#inFlight === 0) for (const resolve of this.#idle.splice(0)) resolve();
    this.#report(serving, answer, status, failure);
  }

  async #enter(serving: Serving): Promise<Answer> {
    this.#requests.enter();
    try {
      // Until this one is answered, uWebSockets.js ends the connection at another request: so none
      // that came in the same packet is served.
      if (isLast(serving.incoming)) await parsed();
      return await this.#serve(serving);
    } finally {
      this.#requests.leave();
    }
  }

  /** Sends the answer and returns the status as sent; 499 when the caller had disconnected. */
  #send(serving: Serving, answer: Answer): number | Promise<number> {
    const packed = this.#compression.pack(answer, serving.route, serving.incoming.headers);
    if (!(packed instanceof Promise)) return this.#write(serving, packed);
    return packed.then((each) => this.#write(serving, each));
  }

  #write(serving: Serving, answer: Answer): number | Promise<number> {
    const { exchange, incoming, close } = serving;
    const how = { head: incoming.method === "HEAD", close };
    const extra = this.#extraHeaders(serving);
    try {
      if (answer.stream !== undefined) return this.#stream(serving, answer, answer.stream, extra);
      return exchange.send(answer, extra, how) ? answer.status : 499;
    } catch (error) {
      return this.#sendFailure(serving, error);
    }
  }

  /** Reports that the answer cannot be serialised, or that its stream failed. */
  #sendFailure(serving: Serving, error: unknown): number {
    const { log } = this.#options;
    const isOurs = toAppError(error).status === 500;
    log[isOurs ? "error" : "debug"]({ error: errorMessage(error) }, "answer could not be sent");
    const problem = problemAnswer(error);
    const { exchange, incoming, close } = serving;
    const how = { head: incoming.method === "HEAD", close };
    return exchange.send(problem, this.#extraHeaders(serving), how) ? problem.status : 499;
  }

  #extraHeaders({ incoming, verdict, more }: Serving): Record<string, string> {
    const headers: Record<string, string> = {};
    if (verdict !== undefined) {
      headers["RateLimit-Limit"] = String(verdict.limit);
      headers["RateLimit-Remaining"] = String(verdict.remaining);
      headers["RateLimit-Reset"] = String(verdict.resetSeconds);
    }
    const { origins } = this.#options;
    if (more !== undefined || origins.any) {
      Object.assign(headers, origins.headers(incoming.headers), more);
    }
    return headers;
  }

  async #stream(
    serving: Serving,
    answer: Answer,
    stream: BodyStream,
    extra: Record<string, string>,
  ): Promise<number> {
    const { exchange, incoming } = serving;
    try {
      if (incoming.method === "HEAD") {
        return exchange.sendStreamHead(answer, stream, extra, serving) ? answer.status : 499;
      }
      if (serving.close) extra.Connection = "close";
      const { downloadStallMs: stallMs, handlerTimeoutMs: sourceMs } = this.#options.limits;
      const whole = await this.#downloads.run(() =>
        exchange.stream(answer, stream, extra, { stallMs, sourceMs }),
      );
      return whole ? answer.status : 499;
    } catch (error) {
      return this.#sendFailure(serving, error);
    }
  }

  #report(serving: Serving, answer: Answer, status: number, failure: unknown): void {
    const { incoming, route } = serving;
    const ms = performance.now() - serving.startedAt;
    const path = route?.path ?? "none";
    const { observer, log } = this.#options;
    observer?.served({ method: incoming.method, route: path, status, seconds: ms / 1_000 });
    logRequest(log, { ...serving, answer, status, ms, failure });
  }

  #serve(serving: Serving): Answer | Promise<Answer> {
    const { incoming } = serving;
    if (this.#draining) {
      serving.close = true;
      throw new AppError("unavailable", "The service is stopping. Please try again.", {
        retryAfter: 1,
      });
    }
    serving.verdict = this.#options.rates.address(incoming.address);
    enforce(serving.verdict);
    if (incoming.fault !== undefined) throw new AppError("bad_request", incoming.fault);
    const page = this.#firstPage.answer(incoming);
    if (page !== undefined) return page;
    const match = this.#match(incoming);
    if (match.kind === "unknown") throw nothingAt(incoming.path);
    if (incoming.method === "OPTIONS") return this.#answerOptions(serving, match);
    if (match.kind === "wrong_method") return wrongMethod(incoming.method, match.allow);
    serving.route = match.route;
    serving.params = match.params;
    return this.#serveRoute(serving, match.route, match.params);
  }

  #match(incoming: Incoming): Match {
    if (!incoming.path.startsWith(`${PREFIX}/`)) return { kind: "unknown" };
    return this.#table.match(incoming.method, incoming.path.slice(PREFIX.length));
  }

  #answerOptions(serving: Serving, match: Match): Answer {
    const allow = match.kind === "wrong_method" ? match.allow : [];
    serving.more = this.#options.origins.preflight(serving.incoming.headers, allow);
    return { status: 204, headers: { Allow: allow.join(", ") } };
  }

  async #serveRoute(
    serving: Serving,
    route: Route,
    params: Record<string, string>,
  ): Promise<Answer> {
    const { incoming, exchange } = serving;
    const { limits } = this.#options;
    const isUpload = route.body?.kind === "upload";
    const limit = isUpload ? limits.uploadBytes : limits.jsonBytes;
    checkBodyHead(route, incoming.headers, limit);
    const prepared = this.#prepared.get(route);
    if (prepared === undefined) throw new Error(`The route ${route.id} was not prepared.`);
    const json = prepared.takesJson(exchange)
      ? await readBytes(exchange, limit, limits.jsonTimeoutMs)
      : undefined;
    const ms = limits.handlerTimeoutMs;
    const admission = this.#admit(serving, prepared, params, json);
    if (!isUpload) return withTimeout(this.#call(serving, route, admission), ms, "The request");
    const admitted = await withTimeout(admission, ms, "Looking up the request");
    return this.#callWithUpload(serving, route, admitted);
  }

  /** Runs all checks of a request: authentication, permissions, the resource, and the input. */
  async #admit(
    serving: Serving,
    prepared: PreparedRoute,
    params: Record<string, string>,
    json: Buffer | undefined,
  ): Promise<Admitted> {
    const { incoming, exchange } = serving;
    const { route } = prepared;
    const { authenticator, rates } = this.#options;
    const principal =
      route.auth.length === 0
        ? undefined
        : await authenticateRoute(route, incoming.headers, authenticator);
    serving.principal = principal;
    serving.verdict = rates.caller(route, principal, incoming.address);
    enforce(serving.verdict);
    checkRole(route, principal);
    const request = new ServedRequest(incoming, exchange, prepared.params(params), principal);
    const resource = route.resolve === undefined ? undefined : await route.resolve(request);
    request.query = prepared.query(request.query);
    request.body = prepared.body(json);
    if (request.headers["if-match"] !== undefined) {
      await this.#preconditions.check(route, request);
    }
    return { request, resource };
  }

  async #call(serving: Serving, route: Route, admission: Promise<Admitted>): Promise<Answer> {
    const { request, resource } = await admission;
    const { path, query } = serving.incoming;
    const reply = await this.#idempotency.run(route, request, `${path}?${query}`, () =>
      route.handle(request, resource),
    );
    return this.#preconditions.finish(route, request, reply);
  }

  async #callWithUpload(
    { exchange, incoming }: Serving,
    route: Route,
    { request, resource }: Admitted,
  ): Promise<Answer> {
    const { limits, uploadFolder } = this.#options;
    const onBytes = () => route.receiving?.(request);
    onBytes();
    const upload = await this.#uploads.run(() =>
      readUpload(exchange, incoming.headers, {
        folder: uploadFolder,
        bytes: limits.uploadBytes,
        timeoutMs: limits.uploadTimeoutMs,
        onBytes,
      }),
    );
    request.upload = upload;
    const work = Promise.resolve(route.handle(request, resource));
    // The handler may run longer than its time limit and still need the file.
    const done = upload.content.kind === "file" ? removeAfter(work, upload.content.path) : work;
    const answer = await withTimeout(work, limits.handlerTimeoutMs, "Storing the upload");
    await done;
    return answer;
  }
}

/**
 * True for a request after which nothing may be served on its connection, as others may see its
 * end elsewhere: uWebSockets.js reads chunks more laxly than the standard has them.
 */
function isLast({ fault, headers }: Incoming): boolean {
  return fault !== undefined || headers["transfer-encoding"] !== undefined;
}

/** Resolves when all that has come of a connection was parsed. */
function parsed(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
