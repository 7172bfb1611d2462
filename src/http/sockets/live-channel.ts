import type { Principal } from "../../access/principal.ts";
import type { RevocationFeed } from "../../access/revocations.ts";
import { longest, type QueueFigures } from "../../base/queue-metrics.ts";
import { FeedRegistry } from "../../live/feed-registry.ts";
import type { LiveSource, ViewerPolicy } from "../../live/live-source.ts";
import { CLOSE } from "../../wire/close-codes.ts";
import type { FrontObserver } from "../server/observer.ts";
import { Channel, type ChannelContext, type SocketData, type SocketRequest } from "./channel.ts";
import type { LiveLimits } from "./live-limits.ts";
import { LiveSocket, type LiveSocketOptions } from "./live-socket.ts";
import { ReplayBudget, replayReader } from "./replay-budget.ts";
import type { TicketRedeemer } from "./upgrade.ts";
import type { UwsConnection } from "./uws-connection.ts";

export interface LiveOptions {
  source: LiveSource;
  policy: ViewerPolicy;
  tickets: TicketRedeemer;
  revocations: Pick<RevocationFeed, "subscribe">;
  limits: LiveLimits;
}

interface LiveChannelOptions extends LiveOptions, ChannelContext {
  observer?: FrontObserver | undefined;
}

interface ViewerData extends SocketData<LiveSocket> {
  /** Undefined once the socket is open. */
  admitted: Principal | undefined;
  /** Who pays for its replays. */
  reader: string;
}

/** `GET /api/live`: viewers' WebSockets. */
export class LiveChannel extends Channel<LiveSocket, ViewerData> {
  readonly #limits: LiveLimits;
  readonly #feeds: FeedRegistry;
  readonly #socketOptions: LiveSocketOptions;
  #tooSlow = 0;

  constructor(options: LiveChannelOptions) {
    const { source, runtime, log, limits, observer, tickets } = options;
    super(options, {
      ...{ path: "/api/live", queue: "live_sockets", names: ["live", "viewer"] },
      ...{ accepted: ["bearer", "service_key"], tickets },
      ...{ socketsPerCaller: limits.socketsPerCaller, messages: limits.messages },
      ...{ messageBytes: 256 * 1024, waitingBytes: 64 * 1024 * 1024 },
    });
    this.#limits = limits;
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
      observer: {
        served: (request) => observer?.served(request),
        sent: (frames) => observer?.sent(frames),
        closed: (code) => {
          if (code === CLOSE.tooSlow) this.#tooSlow += 1;
          observer?.closed(code);
        },
      },
      clock: runtime,
      log,
    };
  }

  /** What devices read their sessions from, too. */
  get readers(): Pick<LiveSocketOptions, "feeds" | "replays"> {
    return this.#socketOptions;
  }

  override get queues(): readonly QueueFigures[] {
    return [
      ...super.queues,
      {
        queue: "live_socket_bytes",
        length: longest([...this.watch.sockets()].map(({ buffered }) => buffered)),
        limit: this.#limits.bufferedBytes,
        refused: this.#tooSlow,
      },
      ...this.#feeds.queues,
    ];
  }

  protected async admit({ incoming, verdict, begun }: SocketRequest): Promise<ViewerData> {
    const found = await this.admission.admit(incoming, verdict, (caller) => caller);
    const { principal: admitted, slot } = found;
    return { ...begun, slot, admitted, reader: replayReader(admitted, incoming.network) };
  }

  protected opened(
    data: ViewerData,
    connection: UwsConnection<ViewerData>,
  ): LiveSocket | undefined {
    const { admitted, reader } = data;
    if (admitted === undefined) return undefined;
    data.admitted = undefined;
    return new LiveSocket(this.#socketOptions, connection, admitted, reader);
  }
}
