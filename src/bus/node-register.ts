import type { NatsConnection } from "nats";
import type { LeaseView } from "../actor/lease.ts";
import type { NodeRecord, NodeRegister } from "../api/overview-source.ts";
import { withTimeout } from "../base/deferred.ts";
import { AppError } from "../base/errors.ts";
import { LeaseRecords } from "./lease-records.ts";
import { LeaseWatch } from "./lease-watch.ts";

const READ_MS = 3_000;

/** Session hosts as their leases in the NATS bucket say; only reads, and keeps nothing open. */
export class KvNodeRegister implements NodeRegister {
  readonly #connection: NatsConnection;

  constructor(connection: NatsConnection) {
    this.#connection = connection;
  }

  async nodes(): Promise<NodeRecord[]> {
    const records = new LeaseRecords();
    const writtenAt = new Map<string, number>();
    const watch = new LeaseWatch(this.#connection, {
      onRecord: (record, at) => {
        records.hear(record);
        writtenAt.set(record.key, at);
      },
      onGap: () => {},
    });
    try {
      await withTimeout(watch.start(), READ_MS, "Reading the leases");
    } catch (error) {
      throw new AppError("unavailable", "The lease store is not reachable.", { cause: error });
    } finally {
      watch.stop();
    }
    return toNodes(records.view(), writtenAt);
  }
}

function toNodes({ hosts, partitions }: LeaseView, writtenAt: Map<string, number>): NodeRecord[] {
  const nodes = [...hosts].map(([name, { leaving }]): NodeRecord => {
    const held = [...partitions].filter(([, { holder }]) => holder === name);
    const numbers = held.map(([partition]) => partition).sort((a, b) => a - b);
    const lastSeenAt = Math.round(writtenAt.get(`host.${name}`) ?? 0);
    return { name, lastSeenAt, leaving, partitions: numbers };
  });
  return nodes.sort((a, b) => (a.name < b.name ? -1 : 1));
}
