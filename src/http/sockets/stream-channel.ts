import type {
  HttpRequest,
  HttpResponse,
  TemplatedApp,
  us_socket_context_t,
  WebSocket,
} from "uWebSockets.js";
import type { Authenticator } from "../../access/authenticator.ts";
import type { Principal, ServicePrincipal } from "../../access/principal.ts";
import type { RevocationFeed } from "../../access/revocations.ts";
import type { Slot } from "../../base/concurrency-limit.ts";
import { Pace } from "../../base/gcra.ts";
import type { Log } from "../../base/log.ts";
import type { QueueFigures, QueueOwner } from "../../base/queue-metrics.ts";
import type { Timer } from "../../base/runtime.ts";
import type { SessionStreams } from "../../conversations/recording/session-streams.ts";
import type {
  DeviceStreams,
  StreamCaller,
  StreamPort,
} from "../../conversations/recording/streams.ts";
import type { LiveSource } from "../../live/live-source.ts";
import { CLOSE } from "../../wire/close-codes.ts";
import type { Origins } from "../server/caller.ts";
import type { RateLimits } from "../server/limits.ts";
import { copyRequest } from "../server/request.ts";
import { DeviceSocket } from "./device-socket.ts";
import type { DeviceTranscriptOptions } from "./device-transcript.ts";
import type { SocketHolder } from "./live-limits.ts";
import { SocketLog, type SocketStart, socketStart } from "./socket-log.ts";
import { type OpenSocket, SocketWatch } from "./socket-watch.ts";
import { SocketAdmission, type TicketRedeemer, type UpgradeCork, upgrade } from "./upgrade.ts";
import { UwsConnection } from "./uws-connection.ts";

/** Where streams come in, whose they are, and how many sockets one caller may have. */
interface StreamDoor {
  /** Its one parameter names the device or the session. */
  path: string;
  accepted: Parameters<Authenticator["authenticate"]>[1];
  socketsPerCaller: number;
  /** Name of its sockets among the metrics. */
  queue: string;
  /** Its route and the other end, in log lines. */
  names: readonly [route: string, who: string];
  /** Throws why the caller may not stream there. */
  admit(caller: Principal, id: string): Promise<StreamCaller>;
  streams(caller: StreamCaller, id: string): StreamPort;
}

/** `GET /api/devices/{device_id}/stream`. */
export function deviceDoor(streams: DeviceStreams): StreamDoor {
  return {
    ...{
      path: "/api/devices/:device_id/stream",
      accepted: ["device_key"],
      queue: "device_sockets",
    },
    ...{ socketsPerCaller: 4, names: ["device stream", "device"] as const },
    admit: (caller, deviceId) => streams.admit(caller, deviceId),
    streams: () => streams,
  };
}

/** `GET /api/sessions/{session_id}/stream`. */
export function sessionDoor(streams: SessionStreams): StreamDoor {
  return {
    ...{ path: "/api/sessions/:session_id/stream", accepted: ["service_key"] },
    ...{ queue: "session_stream_sockets", socketsPerCaller: 200 },
    names: ["session stream", "program"],
    admit: (caller, sessionId) => streams.admit(caller, sessionId),
    streams: (caller, sessionId) => streams.port(caller as ServicePrincipal, sessionId),
  };
}

interface StreamChannelOptions extends DeviceTranscriptOptions {
  door: StreamDoor;
  source: LiveSource;
  tickets: TicketRedeemer;
  revocations: Pick<RevocationFeed, "subscribe">;
  authenticator: Authenticator;
  rates: RateLimits;
  origins: Origins;
  cork: UpgradeCork;
  trustProxy: number;
  log: Log;
}

/** A device must send Configure or a heartbeat within this time, milliseconds. */
const CONFIGURE_MS = 10_000;
/**
 * Largest message that is read at all; the sockets' own limit is lower, so that they can close with
 * a reason.
 */
const HARD_FRAME_BYTES = 1280 * 1024;
/** Messages of 20 ms come 3,000 times a minute, and buffered audio comes faster. */
const MESSAGES = { perMinute: 30_000, burst: 5_000 };

/** All members are initialised at creation, so that the engine stores them in one object. */
interface SocketData {
  start: SocketStart;
  caller: StreamCaller;
  /** Of the device or the session that the address names. */
  id: string;
  /** Number of revocations seen by the watch before this caller was authenticated. */
  news: number;
  slot: Slot<SocketHolder>;
  open: OpenSocket<DeviceSocket> | undefined;
  configureTimer: Timer | undefined;
}

/** The WebSockets of one door for streamed audio. */
export class StreamChannel implements QueueOwner {
  readonly #options: StreamChannelOptions;
  readonly #watch: SocketWatch<DeviceSocket>;
  readonly #messages: Pace;
  readonly #admission: SocketAdmission;
  readonly #log: SocketLog;

  constructor(options: StreamChannelOptions) {
    this.#options = options;
    const { accepted, socketsPerCaller, names } = options.door;
    this.#log = new SocketLog(options.log, ...names);
    const { limits, runtime, revocations } = options;
    this.#watch = new SocketWatch<DeviceSocket>(limits, runtime, revocations);
    this.#messages = new Pace(MESSAGES, options.runtime);
    this.#admission = new SocketAdmission({
      ...options,
      accepted,
      perCaller: socketsPerCaller,
    });
  }

  mount(app: TemplatedApp): void {
    app.ws<SocketData>(this.#options.door.path, {
      maxPayloadLength: HARD_FRAME_BYTES,
      maxBackpressure: 16 * 1024 * 1024,
      idleTimeout: 240,
      sendPingsAutomatically: false,
      upgrade: (res, req, context) => this.#upgrade(res, req, context),
      open: (ws) => this.#opened(ws),
      message: (ws, message, isBinary) => this.#message(ws, message, isBinary),
      drain: (ws) => ws.getUserData().open?.socket.drained(),
      pong: (ws) => this.#ponged(ws),
      close: (ws, code) => this.#closed(ws, code),
    });
  }

  start(): void {
    this.#watch.start();
  }

  /**
   * Closes every device's socket at a random moment of the next `spreadMs`; devices reconnect
   * elsewhere and continue from their last acknowledgement. Resolves when all are closed.
   */
  async drain(spreadMs: number): Promise<void> {
    this.#admission.drain();
    await this.#watch.sendAway(CLOSE.goingAway, "The service is stopping", spreadMs);
  }

  stop(): void {
    void this.drain(0);
    this.#watch.stop();
  }

  get queues(): readonly QueueFigures[] {
    return [this.#admission.figures(this.#options.door.queue)];
  }

  get sockets(): number {
    return this.#watch.size;
  }

  #upgrade(res: HttpResponse, req: HttpRequest, context: us_socket_context_t): void {
    const { trustProxy, origins, cork, door } = this.#options;
    const id = req.getParameter(0) ?? "";
    const incoming = copyRequest(res, req, trustProxy);
    const { news } = this.#watch;
    const check = (caller: Principal) => door.admit(caller, id);
    const verdict = this.#admission.pace(incoming);
    const admitted = this.#admission.admit(incoming, verdict, check).then(
      ({ principal: caller, slot }): SocketData => ({
        start: socketStart(incoming),
        caller,
        id,
        news,
        slot,
        open: undefined,
        configureTimer: undefined,
      }),
    );
    upgrade(res, context, incoming, { origins, cork, verdict, log: this.#log }, admitted);
  }

  #opened(ws: WebSocket<SocketData>): void {
    const data = ws.getUserData();
    const connection = new UwsConnection(ws);
    const { caller, id } = data;
    const streams = this.#options.door.streams(caller, id);
    const socket = new DeviceSocket({ ...this.#options, streams }, connection, caller);
    data.open = this.#watch.add(socket, connection, data.news);
    data.configureTimer = this.#options.runtime.after(CONFIGURE_MS, () => {
      if (socket.isSilent) socket.close(CLOSE.idle, "Nothing came.");
    });
    if (this.#admission.draining) socket.close(CLOSE.goingAway, "The service is stopping.");
    this.#log.connected(data.start, caller, this.#watch.size);
  }

  #message(ws: WebSocket<SocketData>, message: ArrayBuffer, isBinary: boolean): void {
    const data = ws.getUserData();
    const { open } = data;
    if (open === undefined) return;
    this.#watch.heard(open);
    if (!this.#messages.take(open)) {
      return open.socket.close(CLOSE.rate, "Too many messages.");
    }
    open.socket.message(Buffer.from(message), isBinary);
    if (data.configureTimer === undefined || open.socket.isSilent) return;
    data.configureTimer.cancel();
    data.configureTimer = undefined;
  }

  #ponged(ws: WebSocket<SocketData>): void {
    const { open } = ws.getUserData();
    this.#watch.heard(open);
    open?.socket.isThere();
  }

  #closed(ws: WebSocket<SocketData>, code: number): void {
    const { open, configureTimer, start, caller, slot } = ws.getUserData();
    slot.release();
    configureTimer?.cancel();
    if (open === undefined) return;
    this.#log.left(start, caller, code, open.socket.sessionId);
    this.#watch.remove(open);
  }
}
