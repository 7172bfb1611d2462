import type { Principal, ServicePrincipal } from "../access/principal.ts";
import { AppError } from "../base/errors.ts";
import { type Incoming, parseQuery } from "../http/server/request.ts";
import {
  Channel,
  type ChannelContext,
  type SocketData,
  type SocketRequest,
} from "../http/sockets/channel.ts";
import type { UwsConnection } from "../http/sockets/uws-connection.ts";
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

/** Messages of 20 ms come 3,000 times a minute, and buffered audio comes faster. */
const MESSAGES = { perMinute: 30_000, burst: 5_000 };

interface CompatData extends SocketData<CompatSocket> {
  caller: ServicePrincipal;
  order: DeepgramOrder;
}

/** `GET /api/compat/deepgram/v1/listen`: live audio of Deepgram's clients. */
export class CompatChannel extends Channel<CompatSocket, CompatData> {
  readonly #options: CompatChannelOptions;

  constructor(options: CompatChannelOptions) {
    super(options, {
      ...{ path: "/api/compat/deepgram/v1/listen", queue: "compat_sockets" },
      ...{ names: ["compatible stream", "program"], accepted: ["compat_key"] },
      ...{ socketsPerCaller: options.limits.socketsPerCaller, messages: MESSAGES },
      ...{ messageBytes: 1280 * 1024, waitingBytes: 16 * 1024 * 1024 },
    });
    this.#options = options;
  }

  protected override answered({ id: requestId }: Incoming) {
    return { spoken: { dialect: DEEPGRAM_ERRORS, requestId }, protocol: scheme };
  }

  protected async admit({ incoming, verdict, begun, headers }: SocketRequest): Promise<CompatData> {
    let order: DeepgramOrder | undefined;
    const check = async (principal: Principal) => {
      const caller = requireService(principal);
      order = await this.#read(incoming, caller);
      if (order.warning !== undefined) headers.Warning = order.warning;
      return caller;
    };
    const { principal: caller, slot } = await this.admission.admit(incoming, verdict, check);
    if (order === undefined) throw new AppError("internal", "The query was not read.");
    return { ...begun, slot, caller, order };
  }

  async #read(incoming: Incoming, caller: ServicePrincipal): Promise<DeepgramOrder> {
    const { calls } = this.#options;
    const order = readDeepgramQuery(parseQuery(incoming.query), calls.engines(), true);
    await calls.sessions.check(caller, orderOf(order));
    return order;
  }

  protected opened({ caller, order }: CompatData, connection: UwsConnection<CompatData>) {
    const { calls, limits, authenticator, runtime } = this.#options;
    const ports = { calls, limits, authenticator, runtime };
    return new CompatSocket(ports, connection, { caller, order });
  }

  protected override message(data: CompatData, message: ArrayBuffer, isBinary: boolean): void {
    // uWebSockets.js reuses the message's memory.
    super.message(data, message.slice(0), isBinary);
  }
}

/** Of the subprotocols `token, <key>` the first is chosen: the key is not said back. */
function scheme(protocols: string): string {
  return protocols.split(",")[0]?.trim() ?? "";
}
