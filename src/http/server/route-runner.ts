import type { Authenticator } from "../../access/authenticator.ts";
import { ConcurrencyLimit, type Slot } from "../../base/concurrency-limit.ts";
import { createDeferred, withTimeout } from "../../base/deferred.ts";
import type { Log } from "../../base/log.ts";
import type { QueueFigures, QueueOwner } from "../../base/queue-metrics.ts";
import type { ByteSink, Request, Route, Upload } from "../../rest/route.ts";
import { authenticateRoute, checkRole } from "./caller.ts";
import type { Holder, HttpLimits } from "./http-limits.ts";
import { Idempotency, type IdempotencyOptions } from "./idempotency.ts";
import { enforce, type RateLimits } from "./limits.ts";
import { Preconditions } from "./preconditions.ts";
import {
  bodyLength,
  checkBodyHead,
  checkBytesType,
  readBytes,
  ServedRequest,
} from "./request-body.ts";
import type { Answer } from "./response.ts";
import { RouteCalls } from "./route-calls.ts";
import { PreparedRoute } from "./routing.ts";
import { claimAddress, claimCaller, type Serving } from "./serving.ts";
import { MEMORY_BYTES, readByteBody, readUpload, removeAfter, removeFile } from "./upload-body.ts";

export interface RouteRunnerOptions {
  routes: readonly Route[];
  authenticator: Authenticator;
  rates: RateLimits;
  idempotency: IdempotencyOptions;
  limits: HttpLimits;
  uploadFolder: string;
  log: Log;
}

/** A request that may be carried out, and the resource it is about. */
interface Admitted {
  request: ServedRequest;
  resource: unknown;
}

/** Who calls is asked again after a body that took longer than this, milliseconds. */
const RECHECK_MS = 2_000;

/** What a body without a declared length counts for at first, bytes. */
const UNDECLARED_BYTES = 64 * 1024;

/** Longest time for a body that the handler takes as it comes, milliseconds. */
const LONGEST_BYTES_MS = 24 * 3_600_000;
/** How often it is asked meanwhile whether its caller still may, milliseconds. */
const RIGHT_MS = 5_000;

/**
 * Carries out requests whose route is known. Who calls, and whether the role may, is known before a
 * byte of the body is waited for; bodies have places, bytes and a pace.
 */
export class RouteRunner implements QueueOwner {
  readonly #options: RouteRunnerOptions;
  readonly #prepared: ReadonlyMap<Route, PreparedRoute>;
  readonly #calls: RouteCalls;
  readonly #idempotency: Idempotency;
  readonly #preconditions: Preconditions;
  readonly #uploads: ConcurrencyLimit<Holder>;
  readonly #bytes: ConcurrencyLimit<Holder>;

  constructor(options: RouteRunnerOptions) {
    const { routes, limits, log } = options;
    const { shares, concurrentUploads, bodyBytes } = limits;
    this.#options = options;
    this.#prepared = PreparedRoute.all(routes);
    this.#calls = new RouteCalls(this.#prepared.values(), options.rates);
    this.#idempotency = new Idempotency(options.idempotency, log);
    this.#preconditions = new Preconditions(routes);
    this.#uploads = new ConcurrencyLimit({
      what: "uploads",
      capacity: concurrentUploads,
      shares: shares.uploads,
    });
    this.#bytes = new ConcurrencyLimit({
      what: "bytes of request bodies",
      capacity: bodyBytes,
      shares: shares.bodyBytes,
    });
  }

  get queues(): readonly QueueFigures[] {
    return [...this.#uploads.queues, ...this.#bytes.queues];
  }

  /** @param place the request's own, which is counted for its caller too */
  async run(
    serving: Serving,
    route: Route,
    params: Record<string, string>,
    place: Slot<Holder>,
  ): Promise<Answer> {
    const { incoming } = serving;
    const { limits } = this.#options;
    const kind = route.body?.kind;
    checkBodyHead(route, incoming.headers, mostBytes(route, limits));
    const prepared = this.#prepared.get(route);
    if (prepared === undefined) throw new Error(`The route ${route.id} was not prepared.`);
    const ms = limits.handlerTimeoutMs;
    await withTimeout(this.#identify(serving, route), ms, "Looking up the caller");
    claimCaller(place, serving.principal);
    if (kind === "upload") return this.#runUpload(serving, prepared, params);
    if (kind === "bytes") return this.#runBytes(serving, prepared, params);
    const json = prepared.takesJson(serving.exchange) ? await this.#readJson(serving) : undefined;
    const admission = this.#admit(serving, prepared, params, json);
    return withTimeout(this.#call(serving, prepared, admission), ms, "The request");
  }

  /** Finds out who calls: 401, the caller's 429, and 403 by the role. */
  async #identify(serving: Serving, route: Route): Promise<void> {
    const { incoming } = serving;
    const { authenticator, rates } = this.#options;
    const principal =
      route.auth.length === 0
        ? undefined
        : await authenticateRoute(route, incoming.headers, authenticator);
    serving.principal = principal;
    serving.verdict = rates.caller(route, principal, incoming);
    enforce(serving.verdict);
    checkRole(route, principal);
  }

  async #readJson(serving: Serving): Promise<Buffer> {
    const { exchange, principal } = serving;
    const { jsonBytes, jsonTimeoutMs, anonymousTimeoutMs, pace } = this.#options.limits;
    const held = this.#hold(serving, Math.min(lengthOf(serving, jsonBytes), jsonBytes));
    const totalMs = principal === undefined ? anonymousTimeoutMs : jsonTimeoutMs;
    const begun = performance.now();
    try {
      const json = await readBytes(exchange, { bytes: jsonBytes, totalMs, pace });
      await this.#recheck(serving, begun);
      return json;
    } finally {
      held.release();
    }
  }

  /** Counts bytes in memory. Throws `overloaded` and `rate_limited`. */
  #hold(serving: Serving, bytes: number): Slot<Holder> {
    const place = this.#bytes.acquire(bytes);
    try {
      claimAddress(place, serving.incoming);
      claimCaller(place, serving.principal);
      return place;
    } catch (error) {
      place.release();
      throw error;
    }
  }

  /** Right and role may have ended while a body came slowly. */
  async #recheck(serving: Serving, begun: number): Promise<void> {
    const { principal, route } = serving;
    if (principal === undefined || route === undefined) return;
    if (performance.now() - begun < RECHECK_MS) return;
    serving.principal = await this.#options.authenticator.revalidate(principal);
    checkRole(route, serving.principal);
  }

  /** Runs the checks after the body: the resource, and the input. */
  async #admit(
    serving: Serving,
    prepared: PreparedRoute,
    params: Record<string, string>,
    json: Buffer | undefined,
  ): Promise<Admitted> {
    const { incoming, exchange, principal } = serving;
    const { route } = prepared;
    const request = new ServedRequest(incoming, exchange, prepared.params(params), principal);
    if (route.calls === true) request.call = this.#calls.of(serving, request);
    const resource = route.resolve === undefined ? undefined : await route.resolve(request);
    request.query = prepared.query(request.query);
    request.body = prepared.body(json);
    if (request.headers["if-match"] !== undefined) {
      await this.#preconditions.check(route, request);
    }
    return { request, resource };
  }

  async #call(
    serving: Serving,
    prepared: PreparedRoute,
    admission: Promise<Admitted>,
  ): Promise<Answer> {
    const { route } = prepared;
    const { request, resource } = await admission;
    const { path, query } = serving.incoming;
    const reply = await this.#idempotency.run(route, request, `${path}?${query}`, () =>
      route.handle(request, resource),
    );
    const answer = this.#preconditions.finish(route, request, reply);
    const warning = prepared.warning(request.body);
    if (warning === undefined) return answer;
    return { ...answer, headers: { ...answer.headers, Warning: warning } };
  }

  /** The checks before a body that is not read as a whole. */
  #admitWithoutBody(
    serving: Serving,
    prepared: PreparedRoute,
    params: Record<string, string>,
  ): Promise<Admitted> {
    const admission = this.#admit(serving, prepared, params, undefined);
    const { handlerTimeoutMs } = this.#options.limits;
    return withTimeout(admission, handlerTimeoutMs, "Looking up the request");
  }

  async #runUpload(
    serving: Serving,
    prepared: PreparedRoute,
    params: Record<string, string>,
  ): Promise<Answer> {
    const { handlerTimeoutMs } = this.#options.limits;
    const { route } = prepared;
    const { request, resource } = await this.#admitWithoutBody(serving, prepared, params);
    const upload = await this.#receive(serving, route, request);
    request.upload = upload;
    const work = route
      .handle(request, resource)
      .then((reply) => this.#preconditions.finish(route, request, reply));
    // The handler may run longer than its time limit and still need the file.
    const done = upload.content.kind === "file" ? removeAfter(work, upload.content.path) : work;
    const longest = route.timeoutMs ?? handlerTimeoutMs;
    const answer = await withTimeout(work, longest, "Storing the upload");
    await done;
    return answer;
  }

  /** The handler takes the bytes itself, and has a place among the uploads until it is done. */
  async #runBytes(
    serving: Serving,
    prepared: PreparedRoute,
    params: Record<string, string>,
  ): Promise<Answer> {
    const { handlerTimeoutMs } = this.#options.limits;
    const { route } = prepared;
    const { request, resource } = await this.#admitWithoutBody(serving, prepared, params);
    checkBytesType(route, serving.incoming.headers);
    const place = this.#uploads.acquire();
    const watch = this.#watchRight(serving, request);
    let held: Slot<Holder> | undefined;
    try {
      claimAddress(place, serving.incoming);
      claimCaller(place, serving.principal);
      held = this.#hold(serving, MEMORY_BYTES);
      request.receive = (sink, most, finish) =>
        this.#receiveBytes(serving, request, { sink, most, finish }, watch);
      const longest = route.timeoutMs ?? handlerTimeoutMs;
      return await withTimeout(route.handle(request, resource), longest, "Taking the bytes");
    } finally {
      watch.stop();
      held?.release();
      place.release();
    }
  }

  #receiveBytes<T>(
    serving: Serving,
    request: ServedRequest,
    { sink, most, finish }: { sink: ByteSink; most: number; finish: () => Promise<T> },
    { ended }: { ended: Promise<never> },
  ): Promise<T> {
    const { pace } = this.#options.limits;
    const onBytes = () => serving.route?.receiving?.(request);
    const limits = { bytes: most, totalMs: LONGEST_BYTES_MS, pace, onBytes, ended };
    return readByteBody(serving.exchange, sink, limits, finish);
  }

  /** Looks again and again whether the caller still has the right, as a body may take hours. */
  #watchRight(serving: Serving, request: ServedRequest): { ended: Promise<never>; stop(): void } {
    const gone = createDeferred<never>();
    gone.promise.catch(() => {});
    const timer = setInterval(() => {
      this.#recheck(serving, Number.NEGATIVE_INFINITY).then(() => {
        request.principal = serving.principal;
      }, gone.reject);
    }, RIGHT_MS);
    return { ended: gone.promise, stop: () => clearInterval(timer) };
  }

  async #receive(serving: Serving, route: Route, request: ServedRequest): Promise<Upload> {
    const { limits, uploadFolder } = this.#options;
    const onBytes = () => route.receiving?.(request);
    const place = this.#uploads.acquire();
    let held: Slot<Holder> | undefined;
    const begun = performance.now();
    try {
      claimAddress(place, serving.incoming);
      claimCaller(place, serving.principal);
      held = this.#hold(serving, Math.min(lengthOf(serving, MEMORY_BYTES), MEMORY_BYTES));
      onBytes();
      const upload = await readUpload(serving.exchange, serving.incoming.headers, {
        folder: uploadFolder,
        bytes: limits.uploadBytes,
        totalMs: limits.uploadTimeoutMs,
        pace: limits.pace,
        onBytes,
        fields: fieldsOf(route),
        refuses: (head, type) => route.refusesUpload?.(head, type, request),
      });
      await this.#stillMay(serving, request, upload, begun);
      return upload;
    } finally {
      held?.release();
      place.release();
    }
  }

  async #stillMay(serving: Serving, request: Request, upload: Upload, begun: number) {
    try {
      await this.#recheck(serving, begun);
      request.principal = serving.principal;
    } catch (error) {
      if (upload.content.kind === "file") await removeFile(upload.content.path);
      throw error;
    }
  }
}

function mostBytes({ body }: Route, { uploadBytes, jsonBytes }: HttpLimits): number {
  if (body?.kind === "bytes") return Number.POSITIVE_INFINITY;
  return body?.kind === "upload" ? uploadBytes : jsonBytes;
}

function fieldsOf({ body }: Route): ReadonlySet<string> {
  const form = body?.kind === "upload" ? body.form : undefined;
  return new Set(Object.keys(form?.properties ?? {}));
}

function lengthOf({ incoming }: Serving, most: number): number {
  const length = bodyLength(incoming.headers);
  return Number.isFinite(length) ? length : Math.min(UNDECLARED_BYTES, most);
}
