import type { KvEntry, NatsConnection } from "nats";
import type { NodeRecord, NodeRegister } from "../api/overview-source.ts";
import { createDeferred, withTimeout } from "../base/deferred.ts";
import { AppError } from "../base/errors.ts";
import { decodeJson } from "../wire/envelope.ts";
import { LEASE_BUCKET } from "../wire/subjects.ts";

const READ_MS = 3_000;

/** Session hosts as their leases in the NATS bucket say; only reads, and keeps nothing open. */
export class KvNodeRegister implements NodeRegister {
  readonly #connection: NatsConnection;

  constructor(connection: NatsConnection) {
    this.#connection = connection;
  }

  async nodes(): Promise<NodeRecord[]> {
    try {
      return toNodes(await withTimeout(this.#entries(), READ_MS, "Reading the leases"));
    } catch (error) {
      throw new AppError("unavailable", "The lease store is not reachable.", { cause: error });
    }
  }

  /** The newest record of each key. */
  async #entries(): Promise<KvEntry[]> {
    const bucket = await this.#connection
      .jetstream({ timeout: READ_MS })
      .views.kv(LEASE_BUCKET, { bindOnly: true });
    const initialised = createDeferred<void>();
    const watch = await bucket.watch({ initializedFn: () => initialised.resolve() });
    const entries: KvEntry[] = [];
    const reading = (async () => {
      for await (const entry of watch) entries.push(entry);
    })();
    try {
      await withTimeout(initialised.promise, READ_MS, "Reading the leases");
    } finally {
      watch.stop();
    }
    await reading;
    return entries;
  }
}

function toNodes(entries: readonly KvEntry[]): NodeRecord[] {
  const nodes = new Map<string, NodeRecord>();
  const held: { holder: string; partition: number }[] = [];
  for (const { key, value, operation, created } of entries) {
    if (operation !== "PUT") continue;
    const [kind, name = ""] = key.split(/\.(.*)/s);
    if (kind === "host") {
      const { leaving = false } = (decodeJson(value) ?? {}) as { leaving?: boolean };
      nodes.set(name, { name, lastSeenAt: created.getTime(), leaving, partitions: [] });
    } else {
      const { holder = "" } = (decodeJson(value) ?? {}) as { holder?: string };
      held.push({ holder, partition: Number(name) });
    }
  }
  for (const { holder, partition } of held) nodes.get(holder)?.partitions.push(partition);
  for (const { partitions } of nodes.values()) partitions.sort((a, b) => a - b);
  return [...nodes.values()].sort((a, b) => (a.name < b.name ? -1 : 1));
}
