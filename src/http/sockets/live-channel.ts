import type {
  HttpRequest,
  HttpResponse,
  TemplatedApp,
  us_socket_context_t,
  WebSocket,
} from "uWebSockets.js";
import type { Authenticator } from "../../access/authenticator.ts";
import type { Principal } from "../../access/principal.ts";
import type { RevocationFeed } from "../../access/revocations.ts";
import type { Slot } from "../../base/concurrency-limit.ts";
import { Pace } from "../../base/gcra.ts";
import type { Log } from "../../base/log.ts";
import { longest, type QueueFigures, type QueueOwner } from "../../base/queue-metrics.ts";
import type { Runtime } from "../../base/runtime.ts";
import { FeedRegistry } from "../../live/feed-registry.ts";
import type { LiveSource, ViewerPolicy } from "../../live/live-source.ts";
import { CLOSE } from "../../wire/close-codes.ts";
import type { Origins } from "../server/caller.ts";
import type { RateLimits } from "../server/limits.ts";
import type { FrontObserver } from "../server/observer.ts";
import { copyRequest } from "../server/request.ts";
import type { LiveLimits, SocketHolder } from "./live-limits.ts";
import { LiveSocket, type LiveSocketOptions } from "./live-socket.ts";
import { ReplayBudget, replayReader } from "./replay-budget.ts";
import { SocketLog, type SocketStart, socketStart } from "./socket-log.ts";
import { type OpenSocket, SocketWatch } from "./socket-watch.ts";
import { SocketAdmission, type TicketRedeemer, type UpgradeCork, upgrade } from "./upgrade.ts";
import { UwsConnection } from "./uws-connection.ts";

export interface LiveOptions {
  source: LiveSource;
  policy: ViewerPolicy;
  tickets: TicketRedeemer;
  revocations: Pick<RevocationFeed, "subscribe">;
  limits: LiveLimits;
}

interface LiveChannelOptions extends LiveOptions {
  authenticator: Authenticator;
  rates: RateLimits;
  origins: Origins;
  cork: UpgradeCork;
  trustProxy: number;
  observer?: FrontObserver | undefined;
  runtime: Runtime;
  log: Log;
}

const PATH = "/api/live";
/**
 * Largest frame that is read at all, bytes; for sizes between `frameBytes` and this the close
 * states the reason.
 */
const HARD_FRAME_BYTES = 256 * 1024;

/** All members are initialised at creation, so that the engine stores them in one object. */
interface SocketData {
  start: SocketStart;
  /** Undefined once the socket is open. */
  admitted: Principal | undefined;
  /** Number of revocations seen by the watch before this caller was authenticated. */
  news: number;
  slot: Slot<SocketHolder>;
  /** Who pays for its replays. */
  reader: string;
  open: OpenSocket<LiveSocket> | undefined;
}

/** `GET /api/live`: viewers' WebSockets. */
export class LiveChannel implements QueueOwner {
  readonly #options: LiveChannelOptions;
  readonly #feeds: FeedRegistry;
  readonly #socketOptions: LiveSocketOptions;
  readonly #watch: SocketWatch<LiveSocket>;
  readonly #messages: Pace;
  readonly #admission: SocketAdmission;
  #tooSlow = 0;
  readonly #observer: FrontObserver;
  readonly #log: SocketLog;

  constructor(options: LiveChannelOptions) {
    const { source, runtime, log, limits } = options;
    this.#options = options;
    const { observer } = options;
    this.#log = new SocketLog(log, "live", "viewer");
    this.#observer = {
      served: (request) => observer?.served(request),
      sent: (frames) => observer?.sent(frames),
      closed: (code) => {
        if (code === CLOSE.tooSlow) this.#tooSlow += 1;
        observer?.closed(code);
      },
    };
    this.#feeds = new FeedRegistry({
      source,
      runtime,
      log,
      tickMs: limits.tickMs,
      recent: limits.recentFrames,
      readTimeoutMs: limits.readTimeoutMs,
      quietMs: limits.quietMs,
    });
    const { authenticator, policy } = options;
    this.#socketOptions = {
      authenticator,
      policy,
      feeds: this.#feeds,
      limits,
      replays: new ReplayBudget(limits.replays, runtime),
      observer: this.#observer,
      clock: runtime,
      log,
    };
    this.#watch = new SocketWatch<LiveSocket>(limits, runtime, options.revocations);
    this.#messages = new Pace(limits.messages, runtime);
    this.#admission = new SocketAdmission({
      ...options,
      accepted: ["bearer", "service_key"],
      perCaller: limits.socketsPerCaller,
    });
  }

  /** What devices read their sessions from, too. */
  get readers(): Pick<LiveSocketOptions, "feeds" | "replays"> {
    return this.#socketOptions;
  }

  get queues(): readonly QueueFigures[] {
    const { bufferedBytes } = this.#options.limits;
    return [
      this.#admission.figures("live_sockets"),
      {
        queue: "live_socket_bytes",
        length: longest([...this.#watch.sockets()].map(({ buffered }) => buffered)),
        limit: bufferedBytes,
        refused: this.#tooSlow,
      },
      ...this.#feeds.queues,
    ];
  }

  mount(app: TemplatedApp): void {
    app.ws<SocketData>(PATH, {
      maxPayloadLength: HARD_FRAME_BYTES,
      // Only a fallback: our own limit is lower and closes the socket with a reason.
      maxBackpressure: 64 * 1024 * 1024,
      idleTimeout: 240,
      sendPingsAutomatically: false,
      upgrade: (res, req, context) => this.#upgrade(res, req, context),
      open: (ws) => this.#opened(ws),
      message: (ws, message, isBinary) => this.#message(ws, message, isBinary),
      pong: (ws) => this.#watch.heard(ws.getUserData().open),
      drain: (ws) => ws.getUserData().open?.socket.drained(),
      close: (ws, code) => this.#closed(ws, code),
    });
  }

  start(): void {
    this.#watch.start();
  }

  /**
   * Accepts no new viewers and closes every viewer's socket at a random moment of the next
   * `spreadMs`, so that they do not all reconnect at once. Resolves when all are closed.
   */
  async drain(spreadMs: number): Promise<void> {
    this.#admission.drain();
    await this.#watch.sendAway(CLOSE.goingAway, "The service is stopping", spreadMs);
  }

  stop(): void {
    void this.drain(0);
    this.#watch.stop();
  }

  get sockets(): number {
    return this.#watch.size;
  }

  #upgrade(res: HttpResponse, req: HttpRequest, context: us_socket_context_t): void {
    const { trustProxy, origins, cork } = this.#options;
    const incoming = copyRequest(res, req, trustProxy);
    const { news } = this.#watch;
    const verdict = this.#admission.pace(incoming);
    const admitted = this.#admission
      .admit(incoming, verdict, (caller) => caller)
      .then(
        ({ principal, slot }): SocketData => ({
          start: socketStart(incoming),
          admitted: principal,
          news,
          slot,
          reader: replayReader(principal, incoming.network),
          open: undefined,
        }),
      );
    upgrade(res, context, incoming, { origins, cork, verdict, log: this.#log }, admitted);
  }

  #opened(ws: WebSocket<SocketData>): void {
    const data = ws.getUserData();
    const connection = new UwsConnection(ws);
    const { admitted, news, start } = data;
    if (admitted === undefined) return;
    const socket = new LiveSocket(this.#socketOptions, connection, admitted, data.reader);
    data.admitted = undefined;
    data.open = this.#watch.add(socket, connection, news);
    if (this.#admission.draining) socket.close(CLOSE.goingAway, "The service is stopping.");
    this.#log.connected(start, admitted, this.#watch.size);
  }

  #message(ws: WebSocket<SocketData>, message: ArrayBuffer, isBinary: boolean): void {
    const { open } = ws.getUserData();
    if (open === undefined) return;
    this.#watch.heard(open);
    if (!this.#messages.take(open)) {
      return open.socket.close(CLOSE.rate, "Too many frames.");
    }
    open.socket.message(Buffer.from(message), isBinary);
  }

  #closed(ws: WebSocket<SocketData>, code: number): void {
    const { open, start, slot } = ws.getUserData();
    slot.release();
    if (open === undefined) return;
    this.#log.left(start, open.socket.principal, code);
    this.#watch.remove(open);
  }
}
