import {
  Empty,
  ErrorCode,
  type KV,
  type KvEntry,
  type NatsConnection,
  NatsError,
  type QueuedIterator,
  type Subscription,
} from "nats";
import type { HostLease, LeaseTable, LeaseView } from "../actor/lease.ts";
import { createDeferred, withTimeout } from "../base/deferred.ts";
import { AppError } from "../base/errors.ts";
import { decodeJson, encodeJson } from "../wire/envelope.ts";
import { hostSubject, LEASE_BUCKET } from "../wire/subjects.ts";

const PRESENCE_MS = 150;

/**
 * Leases in a NATS key-value bucket: `host.<name>` holds a host's lease,
 * `partition.<n>` its holder. Every write is a compare-and-set on the revision.
 * The bucket's own expiry only tidies up; liveness is the taker's clock.
 */
export class KvLeaseTable implements LeaseTable {
  readonly #connection: NatsConnection;
  readonly #replicas: number;
  #bucket: KV | undefined;
  #watch: QueuedIterator<KvEntry> | undefined;
  /** Kept up to date by the watch; whoever writes by it is checked by revision. */
  readonly #entries = new Map<string, KvEntry>();
  readonly #revisions = new Map<string, number>();
  readonly #presence = new Map<string, Subscription>();

  /** `replicas`: copies that a NATS cluster keeps of the leases. */
  constructor(connection: NatsConnection, replicas = 1) {
    this.#connection = connection;
    this.#replicas = replicas;
  }

  async read(): Promise<LeaseView> {
    return this.#trying(async () => {
      const view: LeaseView = { hosts: new Map(), partitions: new Map() };
      for (const entry of this.#entries.values()) readEntry(view, entry);
      return view;
    });
  }

  async beat(host: string, lease: HostLease): Promise<boolean> {
    this.#present(host);
    return this.#trying(async (bucket) => {
      const key = `host.${host}`;
      const revision = this.#revisions.get(key);
      const value = encodeJson(lease);
      try {
        const next =
          revision === undefined
            ? await bucket.put(key, value)
            : await bucket.update(key, value, revision);
        this.#revisions.set(key, next);
        return true;
      } catch (error) {
        if (!isConflict(error)) throw error;
        this.#revisions.delete(key);
        // A lost bucket starts its revisions anew: no record means nobody else has it.
        return (await bucket.get(key)) === null;
      }
    });
  }

  /** The server says at once when nobody listens on the host's subject. */
  async isConnected(host: string): Promise<boolean> {
    try {
      await this.#connection.request(hostSubject(host), Empty, { timeout: PRESENCE_MS });
      return true;
    } catch (error) {
      return !(error instanceof NatsError && error.code === ErrorCode.NoResponders);
    }
  }

  async take(partition: number, host: string, revision: number): Promise<boolean> {
    return this.#trying(async (bucket) => {
      try {
        const key = `partition.${partition}`;
        const value = encodeJson({ holder: host });
        if (revision === 0) await bucket.create(key, value);
        else await bucket.update(key, value, revision);
        return true;
      } catch (error) {
        if (isConflict(error)) return false;
        throw error;
      }
    });
  }

  async free(partition: number, host: string): Promise<void> {
    await this.#trying(async (bucket) => {
      const key = `partition.${partition}`;
      const entry = await bucket.get(key);
      const record = entry === null ? undefined : (decodeJson(entry.value) as { holder?: string });
      if (entry === null || record?.holder !== host) return;
      await bucket
        .update(key, encodeJson({ holder: "" }), entry.revision)
        .catch((error: unknown) => {
          if (!isConflict(error)) throw error;
        });
    });
  }

  async leave(host: string): Promise<void> {
    await this.#trying((bucket) => bucket.purge(`host.${host}`));
  }

  /** Ends the watch. */
  stop(): void {
    this.#watch?.stop();
    for (const subscription of this.#presence.values()) subscription.unsubscribe();
    this.#presence.clear();
  }

  /** A subscription ends with its connection, whatever ended that. */
  #present(host: string): void {
    if (this.#presence.has(host)) return;
    const callback = (_error: unknown, message: { respond(): boolean }): void => {
      message.respond();
    };
    this.#presence.set(host, this.#connection.subscribe(hostSubject(host), { callback }));
  }

  async #trying<T>(work: (bucket: KV) => Promise<T>): Promise<T> {
    try {
      this.#bucket ??= await this.#open();
      return await work(this.#bucket);
    } catch (error) {
      // The bucket may be gone with its store: look it up, or make it, the next time.
      this.#bucket = undefined;
      throw new AppError("unavailable", "The lease store is not reachable.", { cause: error });
    }
  }

  async #open(): Promise<KV> {
    const bucket = await this.#connection
      .jetstream({ timeout: 2_000 })
      .views.kv(LEASE_BUCKET, { ttl: 3_600_000, history: 1, replicas: this.#replicas });
    this.#watch?.stop();
    this.#entries.clear();
    const initialised = createDeferred<void>();
    const watch = await bucket.watch({ initializedFn: () => initialised.resolve() });
    this.#watch = watch;
    void this.#follow(watch);
    await withTimeout(initialised.promise, 5_000, "Reading the leases");
    return bucket;
  }

  async #follow(watch: QueuedIterator<KvEntry>): Promise<void> {
    for await (const entry of watch) {
      if (this.#watch === watch) this.#entries.set(entry.key, entry);
    }
    if (this.#watch === watch) this.#bucket = undefined;
  }
}

function readEntry(view: LeaseView, entry: KvEntry): void {
  if (entry.operation !== "PUT") return;
  const value = decodeJson(entry.value) as
    | { counter?: number; leaving?: boolean; holder?: string }
    | undefined;
  const [kind, name = ""] = entry.key.split(/\.(.*)/s);
  if (kind === "host") {
    view.hosts.set(name, {
      counter: Number(value?.counter ?? 0),
      leaving: value?.leaving === true,
    });
  }
  if (kind === "partition") {
    view.partitions.set(Number(name), { holder: value?.holder ?? "", revision: entry.revision });
  }
}

function isConflict(error: unknown): boolean {
  return error instanceof NatsError && error.api_error?.err_code === 10071;
}
