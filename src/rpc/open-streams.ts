import type { Principal } from "../auth/principal.ts";
import type { RevocationFeed } from "../auth/revocation-feed.ts";
import { AppError } from "../base/errors.ts";
import type { QueueFigures, QueueOwner } from "../base/queue-metrics.ts";
import { stopping } from "./call-gate.ts";

/** A stream whose caller is known. */
export interface OpenStream {
  readonly principal: Principal;
  /** Asks again whether the caller may go on; never rejects. */
  recheck(): Promise<void>;
  /** Ends it with this error, once. */
  end(error: AppError): void;
}

export interface OpenStreamsOptions {
  /** As callers know them, for refusals. */
  what: string;
  /** As operators know them. */
  queue: string;
  total: number;
  perKey: number;
  revocations: Pick<RevocationFeed, "subscribe">;
}

/** The open streams of one method, bounded, with the ends that others put to them. */
export class OpenStreams implements QueueOwner {
  readonly #options: OpenStreamsOptions;
  readonly #streams = new Set<OpenStream>();
  readonly #unsubscribe: () => void;
  #refused = 0;

  constructor(options: OpenStreamsOptions) {
    this.#options = options;
    this.#unsubscribe = options.revocations.subscribe((event) => {
      if (event.kind === "service_key") this.#recheck(event.keyId);
    });
  }

  /** Streams added and not removed: also ended ones whose client has not read that yet. */
  get size(): number {
    return this.#streams.size;
  }

  get queues(): readonly QueueFigures[] {
    const { queue, total: limit } = this.#options;
    return [{ queue, length: this.#streams.size, limit, refused: this.#refused }];
  }

  /** Throws when this caller may open no further stream now. */
  checkRoom({ id }: Principal): void {
    const { what, total, perKey } = this.#options;
    if (this.#streams.size >= total) {
      this.#refused += 1;
      throw new AppError("overloaded", `Too many ${what} are open here.`, { retryAfter: 5 });
    }
    const own = [...this.#streams].filter(({ principal }) => principal.id === id).length;
    if (own >= perKey) {
      throw new AppError("rate_limited", `This key has as many ${what} open as it may.`);
    }
  }

  add(stream: OpenStream): void {
    this.#streams.add(stream);
  }

  remove(stream: OpenStream): void {
    this.#streams.delete(stream);
  }

  #recheck(keyId: string): void {
    for (const stream of [...this.#streams]) {
      if (stream.principal.id === keyId) void stream.recheck();
    }
  }

  /** Sends every client elsewhere. */
  stop(): void {
    this.#unsubscribe();
    for (const stream of [...this.#streams]) stream.end(stopping());
  }
}
