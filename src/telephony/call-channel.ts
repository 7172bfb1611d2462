import type {
  HttpRequest,
  HttpResponse,
  TemplatedApp,
  us_socket_context_t,
  WebSocket,
} from "uWebSockets.js";
import { ConcurrencyLimit, type Slot } from "../base/concurrency-limit.ts";
import { AppError, toAppError } from "../base/errors.ts";
import { Pace } from "../base/gcra.ts";
import type { QueueFigures } from "../base/queue-metrics.ts";
import type { Timer } from "../base/runtime.ts";
import { copyRequest, type Incoming } from "../http/server/request.ts";
import type { Channel, ChannelContext } from "../http/sockets/channel.ts";
import type { SocketHolder } from "../http/sockets/live-limits.ts";
import { SocketLog, type SocketStart, socketStart } from "../http/sockets/socket-log.ts";
import { type OpenSocket, SocketWatch } from "../http/sockets/socket-watch.ts";
import { claimSocket, SocketAdmission, upgrade } from "../http/sockets/upgrade.ts";
import { UwsConnection } from "../http/sockets/uws-connection.ts";
import { socketAddress } from "../rest/socket-address.ts";
import { CLOSE } from "../wire/close-codes.ts";
import { type AdmittedCall, CallSocket } from "./call-socket.ts";
import type { PhoneCallPorts } from "./phone-call.ts";
import { CALL_PATH } from "./routes.ts";
import { assertFromTwilio } from "./twilio-messages.ts";

/** What telephone calls need. */
export interface CallOptions extends PhoneCallPorts {
  /** The auth token with which Twilio signs; without it signatures are not looked at. */
  twilioToken: string | undefined;
  /** The public address, which calls are told; the request's Host when absent. */
  publicUrl: string | undefined;
}

interface CallChannelOptions extends ChannelContext {
  calls: CallOptions;
}

/** Largest message that is read at all; the sockets' own limit is lower, so that they tell it. */
const HARD_FRAME_BYTES = 256 * 1024;
/** Two tracks send 6,000 messages a minute; what waited in the network comes faster. */
const MESSAGES = { perMinute: 15_000, burst: 3_000 };
/** A ticket must come within this time, milliseconds. */
const TICKET_MS = 5_000;
const CALLS_PER_CALLER = 200;
/** Calls whose ticket has not come yet: nobody answers for them. */
const WAITING = { capacity: 500, shares: { network: 100, site: 200 } };

/** All members are initialised at creation, so that the engine stores them in one object. */
interface SocketData {
  start: SocketStart;
  /** Number of revocations seen by the watch before the ticket came. */
  news: number;
  slot: Slot<SocketHolder>;
  network: string;
  site: string | undefined;
  /** Until its ticket was good. */
  waiting: Slot<"network" | "site"> | undefined;
  timer: Timer | undefined;
  socket: CallSocket | undefined;
  /** Once its ticket was good. */
  open: OpenSocket<AdmittedCall> | undefined;
  /** Of its messages. */
  arrival: number;
}

/** `GET /api/compat/twilio/stream`: telephone calls with the messages of Twilio's Media Streams. */
export class CallChannel implements Channel {
  readonly #options: CallChannelOptions;
  readonly #watch: SocketWatch<AdmittedCall>;
  readonly #messages: Pace;
  readonly #admission: SocketAdmission;
  readonly #waiting = new ConcurrencyLimit({ what: "calls without a ticket", ...WAITING });
  readonly #log: SocketLog;

  constructor(options: CallChannelOptions) {
    this.#options = options;
    const { limits, runtime, revocations } = options;
    this.#log = new SocketLog(options.log, "telephone call", "call");
    this.#watch = new SocketWatch<AdmittedCall>(limits, runtime, revocations);
    this.#messages = new Pace(MESSAGES, runtime);
    this.#admission = new SocketAdmission({
      ...options,
      accepted: [],
      perCaller: CALLS_PER_CALLER,
      tickets: undefined,
    });
  }

  mount(app: TemplatedApp): void {
    app.ws<SocketData>(CALL_PATH, {
      maxPayloadLength: HARD_FRAME_BYTES,
      maxBackpressure: 1024 * 1024,
      idleTimeout: 240,
      sendPingsAutomatically: false,
      upgrade: (res, req, context) => this.#upgrade(res, req, context),
      open: (ws) => this.#opened(ws),
      message: (ws, message, isBinary) => this.#message(ws, message, isBinary),
      close: (ws, code) => this.#closed(ws, code),
    });
  }

  start(): void {
    this.#watch.start();
  }

  /** Closes every call at a random moment of the next `spreadMs`; what came is stored. */
  async drain(spreadMs: number): Promise<void> {
    this.#admission.drain();
    await this.#watch.sendAway(CLOSE.goingAway, "The service is stopping", spreadMs);
  }

  stop(): void {
    void this.drain(0);
    this.#watch.stop();
  }

  get queues(): readonly QueueFigures[] {
    return [this.#admission.figures("call_sockets"), ...this.#waiting.queues];
  }

  #upgrade(res: HttpResponse, req: HttpRequest, context: us_socket_context_t): void {
    const { trustProxy, origins, cork } = this.#options;
    const incoming = copyRequest(res, req, trustProxy);
    const verdict = this.#admission.pace(incoming);
    const admitted = new Promise<SocketData>((resolve) => {
      const slot = this.#admission.enter(incoming, verdict);
      try {
        this.#assertSigned(incoming);
      } catch (error) {
        slot.release();
        throw error;
      }
      resolve({
        ...{ start: socketStart(incoming), network: incoming.network, site: incoming.site },
        ...{ news: this.#watch.news, slot },
        ...{ waiting: undefined, timer: undefined, socket: undefined, open: undefined, arrival: 0 },
      });
    });
    upgrade(res, context, incoming, { origins, cork, verdict, log: this.#log }, admitted);
  }

  #assertSigned({ headers }: Incoming): void {
    const { twilioToken, publicUrl } = this.#options.calls;
    if (twilioToken === undefined) return;
    const address = socketAddress(publicUrl, headers, CALL_PATH);
    assertFromTwilio(twilioToken, address, headers["x-twilio-signature"]);
  }

  #opened(ws: WebSocket<SocketData>): void {
    const data = ws.getUserData();
    const connection = new UwsConnection(ws);
    const { calls, limits, authenticator, runtime } = this.#options;
    const socket = new CallSocket(
      { calls, limits, authenticator, runtime },
      { connection, onAdmitted: (call) => this.#admitted(data, connection, call) },
    );
    data.socket = socket;
    if (this.#admission.draining) return socket.close(CLOSE.goingAway, "The service is stopping.");
    try {
      data.waiting = this.#waiting.acquire();
      data.waiting.claim("network", data.network);
      data.waiting.claim("site", data.site);
    } catch (error) {
      return socket.fail(toAppError(error));
    }
    data.timer = runtime.after(TICKET_MS, () => {
      if (socket.isWaiting) socket.close(CLOSE.auth, "No start message with a ticket came.");
    });
  }

  /** Throws when the caller, or the service as it stops, takes no more calls. */
  #admitted(data: SocketData, connection: UwsConnection<SocketData>, call: AdmittedCall): void {
    if (this.#admission.draining) throw new AppError("unavailable", "The service is stopping.");
    claimSocket(data.slot, call.principal);
    data.open = this.#watch.add(call, connection, data.news);
    data.waiting?.release();
    this.#log.connected(data.start, call.principal, this.#watch.size);
  }

  #message(ws: WebSocket<SocketData>, message: ArrayBuffer, isBinary: boolean): void {
    const data = ws.getUserData();
    const { socket } = data;
    if (socket === undefined) return;
    if (!this.#messages.take(data)) return socket.close(CLOSE.rate, "Too many messages.");
    // Whatever else comes is no sign of life: a call without sound ends.
    if (socket.message(Buffer.from(message), isBinary)) this.#watch.heard(data.open);
  }

  #closed(ws: WebSocket<SocketData>, code: number): void {
    const { open, start, slot, waiting, timer, socket } = ws.getUserData();
    slot.release();
    waiting?.release();
    timer?.cancel();
    this.#log.left(start, open?.socket.principal, code, open?.socket.sessionId);
    if (open === undefined) socket?.closed();
    else this.#watch.remove(open);
  }
}
