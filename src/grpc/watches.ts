import type { RevocationFeed } from "../access/revocations.ts";
import { toAppError } from "../base/errors.ts";
import type { Log } from "../base/log.ts";
import { longest, type QueueFigures, type QueueOwner } from "../base/queue-metrics.ts";
import type { Runtime } from "../base/runtime.ts";
import { FeedRegistry } from "../live/feed-registry.ts";
import type { LiveSource, ViewerPolicy } from "../live/live-source.ts";
import { WatchTranscriptRequest } from "../wire/gen/voice/v1/sessions.ts";
import { type CallAdmission, failStream, type RpcLimits } from "./call-admission.ts";
import { encodeEvent } from "./messages.ts";
import { OpenStreams } from "./open-streams.ts";
import { decodeRequest, logFailure } from "./unary-call.ts";
import { WatchCall, type WatchStream } from "./watch-call.ts";

interface WatchesOptions {
  admission: CallAdmission;
  source: LiveSource;
  policy: ViewerPolicy;
  revocations: Pick<RevocationFeed, "subscribe">;
  limits: RpcLimits;
  runtime: Runtime;
  log: Log;
}

const TICK_MS = 25;
const RECENT_EVENTS = 512;

/** All open WatchTranscript streams. They end when rights end or the process stops. */
export class Watches implements QueueOwner {
  readonly #options: WatchesOptions;
  readonly #feeds: FeedRegistry;
  readonly #watches: OpenStreams;
  readonly #calls = new Set<WatchCall>();
  #tooSlow = 0;

  constructor(options: WatchesOptions) {
    this.#options = options;
    const { source, runtime, log, limits, revocations } = options;
    this.#feeds = new FeedRegistry({
      source,
      runtime,
      log,
      tickMs: TICK_MS,
      recent: RECENT_EVENTS,
      readTimeoutMs: limits.readTimeoutMs,
      quietMs: limits.quietMs,
      encode: encodeEvent,
    });
    this.#watches = new OpenStreams({
      what: "watches",
      queue: "rpc_watches",
      total: limits.watches,
      perKey: limits.watchesPerKey,
      revocations,
      runtime,
    });
  }

  /** Number of streams, including ended ones whose client has not read the end yet. */
  get size(): number {
    return this.#watches.size;
  }

  /** One batch may exceed the limit of bytes, after which the watch ends. */
  get queues(): readonly QueueFigures[] {
    const length = longest([...this.#calls].map(({ waitingBytes }) => waitingBytes));
    const { waitingBytes: limit } = this.#options.limits;
    const bytes = { queue: "rpc_watch_bytes", length, limit, refused: this.#tooSlow };
    return [...this.#watches.queues, ...this.#feeds.queues, bytes];
  }

  /** Number of watches ended because their client read too slowly. */
  get tooSlow(): number {
    return this.#tooSlow;
  }

  /** Handles a call of grpc-js; ends the call itself in every case. */
  open(call: WatchStream): void {
    this.#admit(call).catch((thrown: unknown) => {
      const error = toAppError(thrown);
      logFailure(this.#options.log, call.getPath(), error);
      failStream(call, error);
    });
  }

  async #admit(call: WatchStream): Promise<void> {
    const { admission, policy, limits, runtime: clock, log } = this.#options;
    const principal = admission.admit(call.metadata, "read");
    const request = decodeRequest(WatchTranscriptRequest.decode, call.request);
    this.#watches.checkRoom(principal);
    if (call.cancelled) return;
    const feeds = this.#feeds;
    const onTooSlow = (): void => {
      this.#tooSlow += 1;
    };
    const watch = new WatchCall({
      call,
      request,
      principal,
      policy,
      feeds,
      limits,
      clock,
      log,
      onTooSlow,
    });
    this.#watches.add(watch);
    this.#calls.add(watch);
    call.once("cancelled", () => {
      this.#watches.remove(watch);
      this.#calls.delete(watch);
      watch.closed();
    });
    await watch.start();
  }

  /** Ends all watches, so that clients reconnect elsewhere. */
  stop(): void {
    this.#watches.stop();
  }
}
