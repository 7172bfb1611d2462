import type {
  HttpRequest,
  HttpResponse,
  TemplatedApp,
  us_socket_context_t,
  WebSocket,
} from "uWebSockets.js";
import type { Principal, ServicePrincipal } from "../access/principal.ts";
import type { Slot } from "../base/concurrency-limit.ts";
import { AppError } from "../base/errors.ts";
import { Pace } from "../base/gcra.ts";
import type { QueueFigures } from "../base/queue-metrics.ts";
import { copyRequest, type Incoming, parseQuery } from "../http/server/request.ts";
import type { Channel, ChannelContext } from "../http/sockets/channel.ts";
import type { SocketHolder } from "../http/sockets/live-limits.ts";
import { SocketLog, type SocketStart, socketStart } from "../http/sockets/socket-log.ts";
import { type OpenSocket, SocketWatch } from "../http/sockets/socket-watch.ts";
import { SocketAdmission, upgrade } from "../http/sockets/upgrade.ts";
import { UwsConnection } from "../http/sockets/uws-connection.ts";
import { CLOSE } from "../wire/close-codes.ts";
import type { SpeechEngine } from "../wire/speech-engines.ts";
import { DEEPGRAM_ERRORS } from "./deepgram-errors.ts";
import { type DeepgramOrder, readDeepgramQuery } from "./deepgram-query.ts";
import { orderOf } from "./deepgram-routes.ts";
import type { LiveCallPorts } from "./live-call.ts";
import { CompatSocket } from "./live-socket.ts";
import { requireService } from "./sessions.ts";

/** What the live calls of other services' clients need. */
interface CompatLive extends LiveCallPorts {
  engines: () => readonly SpeechEngine[];
}

interface CompatChannelOptions extends ChannelContext {
  calls: CompatLive;
}

const PATH = "/api/compat/deepgram/v1/listen";
/** Largest message that is read at all; the sockets' own limit is lower. */
const HARD_FRAME_BYTES = 1280 * 1024;
/** Messages of 20 ms come 3,000 times a minute, and buffered audio comes faster. */
const MESSAGES = { perMinute: 30_000, burst: 5_000 };

/** All members are initialised at creation, so that the engine stores them in one object. */
interface SocketData {
  start: SocketStart;
  caller: ServicePrincipal;
  order: DeepgramOrder;
  /** Number of revocations seen by the watch before this caller was authenticated. */
  news: number;
  slot: Slot<SocketHolder>;
  open: OpenSocket<CompatSocket> | undefined;
}

/** `GET /api/compat/deepgram/v1/listen`: live audio of Deepgram's clients. */
export class CompatChannel implements Channel {
  readonly #options: CompatChannelOptions;
  readonly #watch: SocketWatch<CompatSocket>;
  readonly #messages: Pace;
  readonly #admission: SocketAdmission;
  readonly #log: SocketLog;

  constructor(options: CompatChannelOptions) {
    this.#options = options;
    const { limits, runtime, revocations } = options;
    this.#log = new SocketLog(options.log, "compatible stream", "program");
    this.#watch = new SocketWatch<CompatSocket>(limits, runtime, revocations);
    this.#messages = new Pace(MESSAGES, runtime);
    this.#admission = new SocketAdmission({
      ...options,
      accepted: ["compat_key"],
      perCaller: limits.socketsPerCaller,
      tickets: undefined,
    });
  }

  mount(app: TemplatedApp): void {
    app.ws<SocketData>(PATH, {
      maxPayloadLength: HARD_FRAME_BYTES,
      maxBackpressure: 16 * 1024 * 1024,
      idleTimeout: 240,
      sendPingsAutomatically: false,
      upgrade: (res, req, context) => this.#upgrade(res, req, context),
      open: (ws) => this.#opened(ws),
      message: (ws, message, isBinary) => this.#message(ws, message, isBinary),
      pong: (ws) => this.#watch.heard(ws.getUserData().open),
      close: (ws, code) => this.#closed(ws, code),
    });
  }

  start(): void {
    this.#watch.start();
  }

  /** Closes every socket at a random moment of the next `spreadMs`; what came is stored. */
  async drain(spreadMs: number): Promise<void> {
    this.#admission.drain();
    await this.#watch.sendAway(CLOSE.goingAway, "The service is stopping", spreadMs);
  }

  stop(): void {
    void this.drain(0);
    this.#watch.stop();
  }

  get queues(): readonly QueueFigures[] {
    return [this.#admission.figures("compat_sockets")];
  }

  #upgrade(res: HttpResponse, req: HttpRequest, context: us_socket_context_t): void {
    const { trustProxy, origins, cork } = this.#options;
    const incoming = copyRequest(res, req, trustProxy);
    const { news } = this.#watch;
    const verdict = this.#admission.pace(incoming);
    const headers: Record<string, string> = {};
    let order: DeepgramOrder | undefined;
    const check = async (principal: Principal) => {
      const caller = requireService(principal);
      order = await this.#read(incoming, caller);
      if (order.warning !== undefined) headers.Warning = order.warning;
      return caller;
    };
    const admitted = this.#admission
      .admit(incoming, verdict, check)
      .then(({ principal: caller, slot }): SocketData => {
        if (order === undefined) throw new AppError("internal", "The query was not read.");
        const start = socketStart(incoming);
        return { start, caller, order, news, slot, open: undefined };
      });
    const spoken = { dialect: DEEPGRAM_ERRORS, requestId: incoming.id };
    const how = { origins, cork, verdict, log: this.#log, spoken, headers, protocol: scheme };
    upgrade(res, context, incoming, how, admitted);
  }

  async #read(incoming: Incoming, caller: ServicePrincipal): Promise<DeepgramOrder> {
    const { calls } = this.#options;
    const order = readDeepgramQuery(parseQuery(incoming.query), calls.engines(), true);
    await calls.sessions.check(caller, orderOf(order));
    return order;
  }

  #opened(ws: WebSocket<SocketData>): void {
    const data = ws.getUserData();
    const { caller, order } = data;
    const connection = new UwsConnection(ws);
    const { calls, limits, authenticator, runtime } = this.#options;
    const socket = new CompatSocket({ calls, limits, authenticator, runtime }, connection, {
      caller,
      order,
    });
    data.open = this.#watch.add(socket, connection, data.news);
    if (this.#admission.draining) socket.close(CLOSE.goingAway, "The service is stopping.");
    this.#log.connected(data.start, caller, this.#watch.size);
  }

  #message(ws: WebSocket<SocketData>, message: ArrayBuffer, isBinary: boolean): void {
    const { open } = ws.getUserData();
    if (open === undefined) return;
    this.#watch.heard(open);
    if (!this.#messages.take(open)) {
      return open.socket.close(CLOSE.rate, "Too many messages.");
    }
    // uWebSockets.js reuses the message's memory.
    open.socket.message(Buffer.from(message.slice(0)), isBinary);
  }

  #closed(ws: WebSocket<SocketData>, code: number): void {
    const { open, start, caller, slot } = ws.getUserData();
    slot.release();
    if (open === undefined) return;
    this.#log.left(start, caller, code, open.socket.sessionId);
    this.#watch.remove(open);
  }
}

/** Of the subprotocols `token, <key>` the first is chosen: the key is not said back. */
function scheme(protocols: string): string {
  return protocols.split(",")[0]?.trim() ?? "";
}
