import type { HttpRequest, HttpResponse, TemplatedApp } from "uWebSockets.js";
import { ConcurrencyLimit, type Slot } from "../../base/concurrency-limit.ts";
import { createDeferred } from "../../base/deferred.ts";
import { AppError, errorMessage, errorStatus, toAppError } from "../../base/errors.ts";
import type { Log } from "../../base/log.ts";
import type { QueueFigures, QueueOwner } from "../../base/queue-metrics.ts";
import type { BodyStream, EventStream } from "../../rest/route.ts";
import type { Origins } from "./caller.ts";
import { Compression } from "./compression.ts";
import { Exchange } from "./exchange.ts";
import { FirstPage } from "./first-page.ts";
import type { Holder } from "./http-limits.ts";
import { enforce, rateHeaders } from "./limits.ts";
import type { FrontObserver } from "./observer.ts";
import { Dialects, nothingAt, problemAnswer, wrongMethod } from "./problem.ts";
import { ReadyAnswer } from "./ready-answer.ts";
import { copyRequest, type Incoming } from "./request.ts";
import { bodyLength } from "./request-body.ts";
import { logRequest } from "./request-log.ts";
import type { Answer } from "./response.ts";
import { RouteRunner, type RouteRunnerOptions } from "./route-runner.ts";
import { type Match, RouteTable } from "./routing.ts";
import { claimAddress, claimCaller, type Serving } from "./serving.ts";

/**
 * Warns once when requests come through a proxy of which the settings do not tell: all its callers
 * then count as one address.
 */
class ForwardedNotice {
  readonly #log: Pick<Log, "warn">;
  #isOver: boolean;

  /** @param hops number of trusted proxies in front */
  constructor(log: Pick<Log, "warn">, hops: number) {
    this.#log = log;
    this.#isOver = hops > 0;
  }

  see({ headers, address }: Incoming): void {
    if (this.#isOver || headers["x-forwarded-for"] === undefined) return;
    this.#isOver = true;
    this.#log.warn(
      { address },
      "a request carries X-Forwarded-For, and TRUST_PROXY is 0: if a proxy at this address sent it, all its callers share the budgets and places of one address, so set TRUST_PROXY to the number of proxies in a row; without a proxy a client made it up, and nothing is to be done",
    );
  }
}

interface HttpOptions extends RouteRunnerOptions {
  origins: Origins;
  /** Number of consecutive proxies in front of us whose X-Forwarded headers are trusted. */
  trustProxy: number;
  observer?: FrontObserver | undefined;
}

const PREFIX = "/api";

/** Serves routes over uWebSockets.js. */
export class HttpFront implements QueueOwner {
  readonly #options: HttpOptions;
  readonly #table: RouteTable;
  readonly #firstPage = new FirstPage();
  readonly #idle: (() => void)[] = [];
  readonly #runner: RouteRunner;
  readonly #compression: Compression;
  readonly #downloads: ConcurrencyLimit<Holder>;
  readonly #requests: ConcurrencyLimit<Holder>;
  readonly #forwarded: ForwardedNotice;
  readonly #dialects: Dialects;
  #inFlight = 0;
  #leaving = false;
  #draining = false;

  constructor(options: HttpOptions) {
    this.#options = options;
    this.#table = new RouteTable(options.routes);
    this.#runner = new RouteRunner(options);
    this.#compression = new Compression(options.routes);
    this.#forwarded = new ForwardedNotice(options.log, options.trustProxy);
    this.#dialects = new Dialects(options.routes);
    const { concurrentDownloads, concurrentRequests, shares } = options.limits;
    this.#downloads = new ConcurrencyLimit({
      what: "downloads",
      capacity: concurrentDownloads,
      shares: shares.downloads,
    });
    this.#requests = new ConcurrencyLimit({
      what: "requests",
      capacity: concurrentRequests,
      shares: shares.requests,
    });
  }

  get queues(): readonly QueueFigures[] {
    return [this.#requests, this.#runner, this.#downloads].flatMap((owner) => owner.queues);
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
    this.#forwarded.see(incoming);
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
      answer = problemAnswer(error, this.#spoken(serving));
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

  /** How an error is told to this caller, if not as everywhere. */
  #spoken({ incoming: { path, id } }: Serving): ReturnType<Dialects["of"]> {
    return this.#dialects.of(path.slice(PREFIX.length), id);
  }

  async #enter(serving: Serving): Promise<Answer> {
    // Before a place is taken, so that it is claimed for its address in the same turn.
    await parsed();
    const place = this.#requests.acquire();
    try {
      return await this.#serve(serving, place);
    } finally {
      place.release();
    }
  }

  /** Sends the answer and returns the status as sent; 499 when the caller had disconnected. */
  #send(serving: Serving, answer: Answer): number | Promise<number> {
    const packed = this.#compression.pack(answer, serving.route, serving.incoming.headers);
    if (!(packed instanceof Promise)) return this.#write(serving, packed);
    return packed.then((each) => this.#write(serving, each));
  }

  #write(serving: Serving, answer: Answer): number | Promise<number> {
    const { exchange, incoming } = serving;
    // The rest of a body that came too slowly is not waited for.
    const abandon = answer.status === errorStatus("body_timeout");
    const how = { head: incoming.method === "HEAD", close: serving.close || abandon, abandon };
    const extra = this.#extraHeaders(serving);
    try {
      if (answer.events !== undefined) return this.#stream(serving, answer, answer.events, extra);
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
    const problem = problemAnswer(error, this.#spoken(serving));
    const { exchange, incoming, close } = serving;
    const how = { head: incoming.method === "HEAD", close };
    return exchange.send(problem, this.#extraHeaders(serving), how) ? problem.status : 499;
  }

  #extraHeaders({ incoming, verdict, more }: Serving): Record<string, string> {
    const headers: Record<string, string> = verdict === undefined ? {} : rateHeaders(verdict);
    const { origins } = this.#options;
    if (more !== undefined || origins.any) {
      Object.assign(headers, origins.headers(incoming.headers), more);
    }
    return headers;
  }

  async #stream(
    serving: Serving,
    answer: Answer,
    stream: BodyStream | EventStream,
    extra: Record<string, string>,
  ): Promise<number> {
    const { exchange, incoming } = serving;
    try {
      const isHead = incoming.method === "HEAD" && "length" in stream;
      if (isHead)
        return exchange.sendStreamHead(answer, stream, extra, serving) ? answer.status : 499;
      if (serving.close) extra.Connection = "close";
      if (!("length" in stream)) {
        const { downloadStallMs: stallMs } = this.#options.limits;
        return (await exchange.sendEvents(answer, stream, extra, { stallMs }))
          ? answer.status
          : 499;
      }
      return (await this.#download(serving, answer, stream, extra)) ? answer.status : 499;
    } catch (error) {
      return this.#sendFailure(serving, error);
    }
  }

  /** False when the caller disconnected before the end. */
  async #download(
    { exchange, incoming, principal }: Serving,
    answer: Answer,
    stream: BodyStream,
    extra: Record<string, string>,
  ): Promise<boolean> {
    const { downloadStallMs: stallMs, handlerTimeoutMs: sourceMs, pace } = this.#options.limits;
    const place = this.#downloads.acquire();
    try {
      claimAddress(place, incoming);
      claimCaller(place, principal);
      const { bytesPerSecond } = pace;
      return await exchange.stream(answer, stream, extra, { stallMs, bytesPerSecond, sourceMs });
    } finally {
      place.release();
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

  #serve(serving: Serving, place: Slot<Holder>): Answer | Promise<Answer> {
    const { incoming } = serving;
    if (this.#draining) {
      serving.close = true;
      throw new AppError("unavailable", "The service is stopping. Please try again.", {
        retryAfter: 1,
      });
    }
    serving.verdict = this.#options.rates.address(incoming);
    enforce(serving.verdict);
    claimAddress(place, incoming);
    if (incoming.fault !== undefined) throw new AppError("bad_request", incoming.fault);
    const page = this.#firstPage.answer(incoming);
    if (page !== undefined) return page;
    const match = this.#match(incoming);
    if (match.kind === "unknown") throw nothingAt(incoming.path);
    if (incoming.method === "OPTIONS") return this.#answerOptions(serving, match);
    if (match.kind === "wrong_method") {
      return wrongMethod(incoming.method, match.allow, this.#spoken(serving));
    }
    serving.route = match.route;
    serving.params = match.params;
    return this.#runner.run(serving, match.route, match.params, place);
  }

  #match(incoming: Incoming): Match {
    if (!incoming.path.startsWith(`${PREFIX}/`)) return { kind: "unknown" };
    return this.#table.match(incoming.method, incoming.path.slice(PREFIX.length));
  }

  #answerOptions(serving: Serving, match: Match): Answer {
    const allow = match.kind === "wrong_method" ? match.allow : [];
    serving.more = this.#options.origins.preflight(serving.incoming.headers, allow);
    const more = match.kind === "wrong_method" ? match.options : {};
    return { status: 204, headers: { Allow: allow.join(", "), ...more } };
  }
}

/**
 * True for a request after which nothing may be served on its connection, as others may see its
 * end elsewhere: uWebSockets.js reads chunks more laxly than the standard has them.
 */
function isLast({ fault, headers }: Incoming): boolean {
  return fault !== undefined || headers["transfer-encoding"] !== undefined;
}

/**
 * Resolves when all that has come of a connection was parsed. Until a request is answered,
 * uWebSockets.js ends the connection at another one: so none that came in the same packet is served.
 *
 * It is what can be done about headers without a name (`: x`). uWebSockets.js shows no header after
 * one, and looks for none: a Content-Length behind it is not heeded, and the body is read as the next
 * request. Nothing tells such a request from one without a body, as the bytes of its head cannot be
 * had.
 */
function parsed(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
