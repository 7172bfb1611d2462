import type {
  HttpRequest,
  HttpResponse,
  TemplatedApp,
  us_socket_context_t,
  WebSocket,
} from "uWebSockets.js";
import type { Authenticator } from "../../access/authenticator.ts";
import type { RevocationFeed } from "../../access/revocations.ts";
import type { Slot } from "../../base/concurrency-limit.ts";
import { Pace } from "../../base/gcra.ts";
import type { Log } from "../../base/log.ts";
import type { QueueFigures, QueueOwner } from "../../base/queue-metrics.ts";
import type { Runtime } from "../../base/runtime.ts";
import { CLOSE } from "../../wire/close-codes.ts";
import type { Origins } from "../server/caller.ts";
import type { RateLimits } from "../server/limits.ts";
import { copyRequest, type Incoming } from "../server/request.ts";
import type { LiveLimits, SocketHolder } from "./live-limits.ts";
import { SocketLog, type SocketStart, socketStart } from "./socket-log.ts";
import { type OpenSocket, SocketWatch, type WatchedSocket } from "./socket-watch.ts";
import {
  type Answered,
  SocketAdmission,
  type TicketRedeemer,
  type UpgradeCork,
  upgrade,
} from "./upgrade.ts";
import { UwsConnection } from "./uws-connection.ts";

/** What the sockets of one server share. */
export interface ChannelContext {
  revocations: Pick<RevocationFeed, "subscribe">;
  limits: LiveLimits;
  authenticator: Authenticator;
  rates: RateLimits;
  origins: Origins;
  cork: UpgradeCork;
  trustProxy: number;
  runtime: Runtime;
  log: Log;
}

/** The address of a channel, and what its sockets may do. */
interface ChannelDoor {
  path: string;
  /** Name of its sockets among the metrics. */
  queue: string;
  /** Its route and the other end, in log lines. */
  names: readonly [route: string, who: string];
  /** Credentials that are accepted; a ticket instead only where it can be redeemed. */
  accepted: Parameters<Authenticator["authenticate"]>[1];
  tickets?: TicketRedeemer | undefined;
  socketsPerCaller: number;
  messages: ConstructorParameters<typeof Pace>[0];
  /**
   * Largest message that is read at all, bytes. The sockets' own limit is lower, so that they can
   * close with a reason; that of what waits to be sent, too.
   */
  messageBytes: number;
  waitingBytes: number;
}

/** One end of a channel; `message` and `drained` where it is told of them. */
interface ChannelSocket extends WatchedSocket {
  readonly sessionId?: string | undefined;
  message?(bytes: Buffer, isBinary: boolean): void;
  drained?(): void;
}

/** All members are initialised at creation, so that the engine stores them in one object. */
export interface SocketData<S extends ChannelSocket> {
  start: SocketStart;
  /** Number of revocations seen by the watch before this caller was authenticated. */
  news: number;
  slot: Slot<SocketHolder>;
  open: OpenSocket<S> | undefined;
}

/** A request for a WebSocket. */
export interface SocketRequest {
  incoming: Incoming;
  /** The address's one parameter, if it has any. */
  id: string;
  verdict: ReturnType<SocketAdmission["pace"]>;
  /** What its `SocketData` has whoever asks. */
  begun: Pick<SocketData<never>, "start" | "news" | "open">;
  /** Further headers of the answer may be set until it is given. */
  headers: Record<string, string>;
}

/** The sockets of one address: `mount` and `start`, then `drain`, then `stop`. */
export abstract class Channel<
  S extends ChannelSocket = ChannelSocket,
  D extends SocketData<S> = SocketData<S>,
> implements QueueOwner
{
  readonly #context: ChannelContext;
  readonly #door: ChannelDoor;
  readonly #messages: Pace;
  protected readonly watch: SocketWatch<S>;
  protected readonly admission: SocketAdmission;
  protected readonly log: SocketLog;

  constructor(context: ChannelContext, door: ChannelDoor) {
    const { limits, runtime, revocations, log } = context;
    const { accepted, tickets, socketsPerCaller: perCaller } = door;
    this.#context = context;
    this.#door = door;
    this.log = new SocketLog(log, ...door.names);
    this.watch = new SocketWatch<S>(limits, runtime, revocations);
    this.#messages = new Pace(door.messages, runtime);
    this.admission = new SocketAdmission({ ...context, accepted, tickets, perCaller });
  }

  mount(app: TemplatedApp): void {
    app.ws<D>(this.#door.path, {
      maxPayloadLength: this.#door.messageBytes,
      maxBackpressure: this.#door.waitingBytes,
      idleTimeout: 240,
      sendPingsAutomatically: false,
      upgrade: (res, req, context) => this.#upgrade(res, req, context),
      open: (ws) => this.#opened(ws),
      message: (ws, message, isBinary) => this.message(ws.getUserData(), message, isBinary),
      drain: (ws) => ws.getUserData().open?.socket.drained?.(),
      pong: (ws) => this.ponged(ws.getUserData()),
      close: (ws, code) => this.closed(ws.getUserData(), code),
    });
  }

  start(): void {
    this.watch.start();
  }

  /**
   * Accepts no new sockets and closes every one at a random moment of the next `spreadMs`, so that
   * they do not all reconnect at once; what came is stored. Resolves when all are closed.
   */
  async drain(spreadMs: number): Promise<void> {
    this.admission.drain();
    await this.watch.sendAway(CLOSE.goingAway, "The service is stopping", spreadMs);
  }

  stop(): void {
    void this.drain(0);
    this.watch.stop();
  }

  get queues(): readonly QueueFigures[] {
    return [this.admission.figures(this.#door.queue)];
  }

  /** Number of open sockets. */
  get sockets(): number {
    return this.watch.size;
  }

  /** Lets the caller in, or throws why not. */
  protected abstract admit(asked: SocketRequest): Promise<D>;

  /** The socket of a connection that has opened; undefined while it is not known whose it is. */
  protected abstract opened(data: D, connection: UwsConnection<D>): S | undefined;

  /** How an answer is told otherwise than to our own clients. */
  protected answered(_incoming: Incoming): Answered {
    return {};
  }

  #upgrade(res: HttpResponse, req: HttpRequest, context: us_socket_context_t): void {
    const { trustProxy, origins, cork } = this.#context;
    const id = req.getParameter(0) ?? "";
    const incoming = copyRequest(res, req, trustProxy);
    const begun = { start: socketStart(incoming), news: this.watch.news, open: undefined };
    const verdict = this.admission.pace(incoming);
    const headers: Record<string, string> = {};
    const admitted = this.admit({ incoming, id, verdict, begun, headers });
    const how = { origins, cork, verdict, log: this.log, headers, ...this.answered(incoming) };
    upgrade(res, context, incoming, how, admitted);
  }

  #opened(ws: WebSocket<D>): void {
    const data = ws.getUserData();
    const connection = new UwsConnection(ws);
    const socket = this.opened(data, connection);
    if (socket !== undefined) this.add(data, connection, socket);
  }

  protected add(data: D, connection: UwsConnection<D>, socket: S): void {
    data.open = this.watch.add(socket, connection, data.news);
    if (this.admission.draining) socket.close(CLOSE.goingAway, "The service is stopping.");
    this.log.connected(data.start, socket.principal, this.watch.size);
  }

  /** False when more messages came than may. */
  protected paced(sender: Parameters<Pace["take"]>[0]): boolean {
    return this.#messages.take(sender);
  }

  protected message({ open }: D, message: ArrayBuffer, isBinary: boolean): void {
    if (open === undefined) return;
    this.watch.heard(open);
    if (!this.paced(open)) return open.socket.close(CLOSE.rate, "Too many messages.");
    open.socket.message?.(Buffer.from(message), isBinary);
  }

  protected ponged({ open }: D): void {
    this.watch.heard(open);
  }

  protected closed({ open, start, slot }: D, code: number): void {
    slot.release();
    if (open === undefined) return;
    this.log.left(start, open.socket.principal, code, open.socket.sessionId);
    this.watch.remove(open);
  }
}
