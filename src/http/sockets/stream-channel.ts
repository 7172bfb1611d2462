import type { Authenticator } from "../../access/authenticator.ts";
import type { Principal, ServicePrincipal } from "../../access/principal.ts";
import type { Timer } from "../../base/runtime.ts";
import type { SessionStreams } from "../../conversations/recording/session-streams.ts";
import type {
  DeviceStreams,
  StreamCaller,
  StreamPort,
} from "../../conversations/recording/streams.ts";
import type { LiveSource } from "../../live/live-source.ts";
import { CLOSE } from "../../wire/close-codes.ts";
import { Channel, type ChannelContext, type SocketData, type SocketRequest } from "./channel.ts";
import { DeviceSocket } from "./device-socket.ts";
import type { DeviceTranscriptOptions } from "./device-transcript.ts";
import type { TicketRedeemer } from "./upgrade.ts";
import type { UwsConnection } from "./uws-connection.ts";

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

interface StreamChannelOptions extends DeviceTranscriptOptions, ChannelContext {
  door: StreamDoor;
  source: LiveSource;
  tickets: TicketRedeemer;
}

/** A device must send Configure or a heartbeat within this time, milliseconds. */
const CONFIGURE_MS = 10_000;
/** Messages of 20 ms come 3,000 times a minute, and buffered audio comes faster. */
const MESSAGES = { perMinute: 30_000, burst: 5_000 };

interface StreamData extends SocketData<DeviceSocket> {
  caller: StreamCaller;
  /** Of the device or the session that the address names. */
  id: string;
  configureTimer: Timer | undefined;
}

/** The WebSockets of one door for streamed audio: devices continue from their last acknowledgement. */
export class StreamChannel extends Channel<DeviceSocket, StreamData> {
  readonly #options: StreamChannelOptions;

  constructor(options: StreamChannelOptions) {
    const { door, tickets } = options;
    const bytes = { messageBytes: 1280 * 1024, waitingBytes: 16 * 1024 * 1024 };
    super(options, { ...door, ...bytes, tickets, messages: MESSAGES });
    this.#options = options;
  }

  protected async admit({ incoming, id, verdict, begun }: SocketRequest): Promise<StreamData> {
    const check = (caller: Principal) => this.#options.door.admit(caller, id);
    const { principal: caller, slot } = await this.admission.admit(incoming, verdict, check);
    return { ...begun, slot, caller, id, configureTimer: undefined };
  }

  protected opened(data: StreamData, connection: UwsConnection<StreamData>): DeviceSocket {
    const { caller, id } = data;
    const streams = this.#options.door.streams(caller, id);
    const socket = new DeviceSocket({ ...this.#options, streams }, connection, caller);
    data.configureTimer = this.#options.runtime.after(CONFIGURE_MS, () => {
      if (socket.isSilent) socket.close(CLOSE.idle, "Nothing came.");
    });
    return socket;
  }

  protected override message(data: StreamData, message: ArrayBuffer, isBinary: boolean): void {
    super.message(data, message, isBinary);
    if (data.open?.socket.isSilent !== false) return;
    data.configureTimer?.cancel();
    data.configureTimer = undefined;
  }

  protected override ponged(data: StreamData): void {
    super.ponged(data);
    data.open?.socket.isThere();
  }

  protected override closed(data: StreamData, code: number): void {
    data.configureTimer?.cancel();
    super.closed(data, code);
  }
}
