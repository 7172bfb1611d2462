import { Empty, ErrorCode, type KV, type NatsConnection, NatsError, type Subscription } from "nats";
import type { HostLease, LeaseTable, LeaseView } from "../actor/lease.ts";
import { withTimeout } from "../base/deferred.ts";
import { AppError } from "../base/errors.ts";
import type { Runtime } from "../base/runtime.ts";
import { decodeJson, encodeJson } from "../wire/envelope.ts";
import { hostSubject, LEASE_BUCKET } from "../wire/subjects.ts";
import { LeaseRecords } from "./lease-records.ts";
import { ANSWER_MS, LeaseWatch } from "./lease-watch.ts";

const PRESENCE_MS = 150;

/** A watch that is behind by this much tells nothing about the silence of others; milliseconds. */
const STALE_MS = 400;
/** And after this it is replaced: it may hang on a server that is gone. */
const DEAF_MS = 2_000;

/**
 * Leases in a NATS key-value bucket: `host.<name>` holds a host's lease,
 * `partition.<n>` its holder. Every write is a compare-and-set on the revision.
 * Nothing expires by itself; liveness is the taker's clock.
 */
export class KvLeaseTable implements LeaseTable {
  readonly #connection: NatsConnection;
  readonly #runtime: Runtime;
  readonly #replicas: number;
  /** Tells this process's beats from those of another with the same host name. */
  readonly #run: string;
  #bucket: Promise<KV> | undefined;
  #watch: LeaseWatch | undefined;
  /** Kept up to date by the watch; whoever writes by it is checked by revision. */
  readonly #records = new LeaseRecords();
  readonly #revisions = new Map<string, number>();
  readonly #presence = new Map<string, Subscription>();

  /** `replicas`: copies that a NATS cluster keeps of the leases. */
  constructor(connection: NatsConnection, runtime: Runtime, replicas = 1) {
    this.#connection = connection;
    this.#runtime = runtime;
    this.#run = runtime.newId();
    this.#replicas = replicas;
  }

  async read(): Promise<LeaseView> {
    await this.#trying(async () => {});
    const deafFor = this.#records.deafFor(this.#runtime.monotonic());
    if (deafFor >= DEAF_MS) this.#bucket = undefined;
    if (deafFor < STALE_MS) return this.#records.view();
    throw new AppError("unavailable", "The lease store does not tell what is new.");
  }

  async beat(host: string, lease: HostLease): Promise<boolean> {
    this.#present(host);
    return this.#trying(async (bucket) => {
      const key = `host.${host}`;
      const value = encodeJson({ ...lease, run: this.#run });
      const revision = this.#revisions.get(key);
      try {
        await this.#write(bucket, key, value, revision);
        return true;
      } catch (error) {
        if (!isConflict(error)) throw error;
        this.#revisions.delete(key);
        const entry = await bucket.get(key);
        // A lost bucket starts its revisions anew: no record means nobody else has it.
        if (entry === null) return true;
        if ((decodeJson(entry.value) as { run?: string } | undefined)?.run !== this.#run) {
          return false;
        }
        // An own beat whose answer got lost.
        await this.#write(bucket, key, value, entry.revision);
        return true;
      }
    });
  }

  async #write(bucket: KV, key: string, value: Uint8Array, revision?: number): Promise<void> {
    const next =
      revision === undefined
        ? await bucket.put(key, value)
        : await bucket.update(key, value, revision);
    this.#revisions.set(key, next);
    this.#records.wrote(key, value, next, this.#runtime.monotonic());
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
      const key = `partition.${partition}`;
      const value = encodeJson({ holder: host });
      const next = await unlessConflict(
        revision === 0 ? bucket.create(key, value) : bucket.update(key, value, revision),
      );
      if (next === undefined) return false;
      this.#records.wrote(key, value, next, this.#runtime.monotonic());
      return true;
    });
  }

  async free(partition: number, host: string): Promise<void> {
    await this.#trying(async (bucket) => {
      const key = `partition.${partition}`;
      const entry = await bucket.get(key);
      const record = entry === null ? undefined : (decodeJson(entry.value) as { holder?: string });
      if (entry === null || record?.holder !== host) return;
      const value = encodeJson({ holder: "" });
      const next = await unlessConflict(bucket.update(key, value, entry.revision));
      if (next !== undefined) this.#records.wrote(key, value, next, this.#runtime.monotonic());
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
    const opening = this.#bucket ?? this.#open();
    this.#bucket = opening;
    let bucket: KV | undefined;
    try {
      bucket = await opening;
      return await work(bucket);
    } catch (error) {
      // The bucket may be gone with its store: look it up, or make it, the next time.
      const mayBeGone = bucket === undefined || !isTimeout(error);
      if (mayBeGone && this.#bucket === opening) this.#bucket = undefined;
      throw new AppError("unavailable", "The lease store is not reachable.", { cause: error });
    }
  }

  async #open(): Promise<KV> {
    const bucket = await this.#connection
      .jetstream({ timeout: ANSWER_MS })
      .views.kv(LEASE_BUCKET, { history: 1, replicas: this.#replicas });
    const id = await this.#keepForEver();
    this.#watch?.stop();
    this.#records.begin(id);
    this.#records.listenAgain(this.#runtime.monotonic());
    const watch = new LeaseWatch(this.#connection, {
      onRecord: (record) => this.#records.hear(record),
      onGap: () => {
        if (this.#watch === watch) this.#bucket = undefined;
      },
    });
    this.#watch = watch;
    await withTimeout(watch.start(), 5_000, "Reading the leases", this.#runtime);
    return bucket;
  }

  /** Takes the expiry from a bucket that an earlier version made; tells it from any other. */
  async #keepForEver(): Promise<string> {
    const options = { timeout: ANSWER_MS, checkAPI: false };
    const { streams } = await this.#connection.jetstreamManager(options);
    const name = `KV_${LEASE_BUCKET}`;
    const { created, config } = await streams.info(name);
    if (config.max_age !== 0) await streams.update(name, { ...config, max_age: 0 });
    return created;
  }
}

/** Undefined when somebody was faster. */
function unlessConflict(write: Promise<number>): Promise<number | undefined> {
  return write.catch((error: unknown) => {
    if (isConflict(error)) return undefined;
    throw error;
  });
}

function isTimeout(error: unknown): boolean {
  return error instanceof NatsError && error.code === ErrorCode.Timeout;
}

function isConflict(error: unknown): boolean {
  return error instanceof NatsError && error.api_error?.err_code === 10071;
}
