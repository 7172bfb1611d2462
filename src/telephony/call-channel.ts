import { ConcurrencyLimit, type Slot } from "../base/concurrency-limit.ts";
import { AppError, toAppError } from "../base/errors.ts";
import type { QueueFigures } from "../base/queue-metrics.ts";
import type { Timer } from "../base/runtime.ts";
import type { Incoming } from "../http/server/request.ts";
import {
  Channel,
  type ChannelContext,
  type SocketData,
  type SocketRequest,
} from "../http/sockets/channel.ts";
import { claimSocket } from "../http/sockets/upgrade.ts";
import type { UwsConnection } from "../http/sockets/uws-connection.ts";
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

/** Two tracks send 6,000 messages a minute; what waited in the network comes faster. */
const MESSAGES = { perMinute: 15_000, burst: 3_000 };
/** A ticket must come within this time, milliseconds. */
const TICKET_MS = 5_000;
/** Calls whose ticket has not come yet: nobody answers for them. */
const WAITING = { capacity: 500, shares: { network: 100, site: 200 } };

interface CallData extends SocketData<AdmittedCall> {
  network: string;
  site: string | undefined;
  /** Until its ticket was good; from then on it is `open`. */
  waiting: Slot<"network" | "site"> | undefined;
  timer: Timer | undefined;
  socket: CallSocket | undefined;
  /** Of its messages. */
  arrival: number;
}

/** `GET /api/compat/twilio/stream`: telephone calls with the messages of Twilio's Media Streams. */
export class CallChannel extends Channel<AdmittedCall, CallData> {
  readonly #options: CallChannelOptions;
  readonly #waiting = new ConcurrencyLimit({ what: "calls without a ticket", ...WAITING });

  constructor(options: CallChannelOptions) {
    super(options, {
      ...{ path: CALL_PATH, queue: "call_sockets", names: ["telephone call", "call"] },
      ...{ accepted: [], socketsPerCaller: 200, messages: MESSAGES },
      ...{ messageBytes: 256 * 1024, waitingBytes: 1024 * 1024 },
    });
    this.#options = options;
  }

  override get queues(): readonly QueueFigures[] {
    return [...super.queues, ...this.#waiting.queues];
  }

  protected async admit({ incoming, verdict, begun }: SocketRequest): Promise<CallData> {
    const slot = this.admission.enter(incoming, verdict);
    try {
      this.#assertSigned(incoming);
    } catch (error) {
      slot.release();
      throw error;
    }
    return {
      ...{ ...begun, slot, network: incoming.network, site: incoming.site },
      ...{ waiting: undefined, timer: undefined, socket: undefined, arrival: 0 },
    };
  }

  #assertSigned({ headers }: Incoming): void {
    const { twilioToken, publicUrl } = this.#options.calls;
    if (twilioToken === undefined) return;
    const address = socketAddress(publicUrl, headers, CALL_PATH);
    assertFromTwilio(twilioToken, address, headers["x-twilio-signature"]);
  }

  /** Whose call it is tells its ticket, which comes first or never. */
  protected opened(data: CallData, connection: UwsConnection<CallData>): AdmittedCall | undefined {
    const { calls, limits, authenticator, runtime } = this.#options;
    const socket = new CallSocket(
      { calls, limits, authenticator, runtime },
      { connection, onAdmitted: (call) => this.#admitted(data, connection, call) },
    );
    data.socket = socket;
    if (this.admission.draining) socket.close(CLOSE.goingAway, "The service is stopping.");
    else this.#awaitTicket(data, socket);
    return undefined;
  }

  #awaitTicket(data: CallData, socket: CallSocket): void {
    try {
      data.waiting = this.#waiting.acquire();
      data.waiting.claim("network", data.network);
      data.waiting.claim("site", data.site);
    } catch (error) {
      return socket.fail(toAppError(error));
    }
    data.timer = this.#options.runtime.after(TICKET_MS, () => {
      if (socket.isWaiting) socket.close(CLOSE.auth, "No start message with a ticket came.");
    });
  }

  /** Throws when the caller, or the service as it stops, takes no more calls. */
  #admitted(data: CallData, connection: UwsConnection<CallData>, call: AdmittedCall): void {
    if (this.admission.draining) throw new AppError("unavailable", "The service is stopping.");
    claimSocket(data.slot, call.principal);
    this.add(data, connection, call);
    data.waiting?.release();
  }

  protected override message(data: CallData, message: ArrayBuffer, isBinary: boolean): void {
    const { socket } = data;
    if (socket === undefined) return;
    if (!this.paced(data)) return socket.close(CLOSE.rate, "Too many messages.");
    // Whatever else comes is no sign of life: a call without sound ends.
    if (socket.message(Buffer.from(message), isBinary)) this.watch.heard(data.open);
  }

  protected override ponged(): void {}

  protected override closed(data: CallData, code: number): void {
    const { open, waiting, timer, socket } = data;
    waiting?.release();
    timer?.cancel();
    if (open === undefined) {
      this.log.left(data.start, undefined, code);
      socket?.closed();
    }
    super.closed(data, code);
  }
}
