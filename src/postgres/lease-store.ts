import { type DatabasePool, sql } from "slonik";
import { z } from "zod";
import type { HostLease, LeaseTable, LeaseView, PartitionRevision } from "../actor/lease.ts";
import type { NodeRecord, NodeRegister } from "../actor/overview-source.ts";

const hostRow = z.object({
  name: z.string(),
  counter: z.number(),
  leaving: z.boolean(),
  isConnected: z.boolean(),
  changes: z.number(),
});
const partitionRow = z.object({ partition: z.number(), holder: z.string(), revision: z.number() });
const ownerRow = partitionRow.omit({ revision: true });
const numberRow = z.object({ partition: z.number() });
const nodeRow = z.object({
  name: z.string(),
  leaving: z.boolean(),
  lastSeenAt: z.number(),
  partitions: z.array(z.number()),
});
const nothing = z.object({}).strict();

/** Leases and partition owners in PostgreSQL, for one host. */
export class PostgresLeaseTable implements LeaseTable {
  readonly #pool: DatabasePool;
  readonly #host: string;
  #partitions: { changes: number; rows: LeaseView["partitions"] } | undefined;

  /** @param pool of one permanent connection: its end shows others that this host is gone */
  constructor(pool: DatabasePool, host: string) {
    this.#pool = pool;
    this.#host = host;
  }

  async poll({ counter, leaving }: HostLease): Promise<LeaseView> {
    // The statement reads the state before its own write; this host knows its own lease anyway.
    const rows = await this.#pool.any(sql.type(hostRow)`
      with renewed as (
        insert into session_hosts (name, counter, leaving, pid, server_started, renewed_at)
        values (${this.#host}, ${counter}, ${leaving}, pg_backend_pid(),
          pg_postmaster_start_time(), clock_timestamp())
        on conflict (name) do update set counter = excluded.counter, leaving = excluded.leaving,
          pid = excluded.pid, server_started = excluded.server_started,
          renewed_at = excluded.renewed_at)
      select name, counter, leaving, connected as "isConnected", changes from read_leases()`);
    const hosts = new Map(rows.map(({ name, changes: _, ...lease }) => [name, lease]));
    return { hosts, partitions: await this.#owners(rows[0]?.changes ?? 0) };
  }

  async #owners(changes: number): Promise<LeaseView["partitions"]> {
    if (this.#partitions?.changes !== changes) {
      const rows = await this.#pool.any(sql.type(partitionRow)`
        select partition, holder, revision from partition_owners`);
      const read = new Map(rows.map(({ partition, ...record }) => [partition, record]));
      const sum = rows.reduce((total, { revision }) => total + revision, 0);
      this.#partitions = { changes: sum, rows: read };
    }
    return this.#partitions.rows;
  }

  async take(wanted: readonly PartitionRevision[]): Promise<number[]> {
    const rows = wanted.map(({ partition, revision }) => [partition, revision]);
    // In the order of partitions, which prevents deadlocks between hosts.
    const taken = await this.#pool.any(sql.type(numberRow)`
      with free as (
        select p.partition from partition_owners p
        join ${sql.unnest(rows, ["int2", "int8"])} as w (partition, revision)
          on p.partition = w.partition and p.revision = w.revision
        order by p.partition for update of p)
      update partition_owners p set holder = ${this.#host}, revision = p.revision + 1
      from free where p.partition = free.partition
      returning p.partition`);
    return taken.map(({ partition }) => partition);
  }

  holds(partition: number): Promise<boolean> {
    return this.#pool.exists(sql.type(nothing)`
      select from partition_owners where partition = ${partition} and holder = ${this.#host}`);
  }

  async free(partitions: readonly number[]): Promise<void> {
    await this.#pool.query(sql.type(nothing)`
      with held as (
        select partition from partition_owners
        where holder = ${this.#host} and partition = any(${sql.array(partitions, "int2")})
        order by partition for update)
      update partition_owners p set holder = '', revision = p.revision + 1
      from held where p.partition = held.partition`);
  }

  async forget(hosts: readonly string[]): Promise<void> {
    await this.#pool.query(sql.type(nothing)`
      delete from session_hosts where name = any(${sql.array(hosts, "text")})`);
  }
}

/** The owner of each partition; empty text for partitions without one. */
export async function readOwners(pool: DatabasePool): Promise<Map<number, string>> {
  const rows = await pool.any(sql.type(ownerRow)`
    select partition, holder from partition_owners`);
  return new Map(rows.map(({ partition, holder }) => [partition, holder]));
}

/** Session hosts, as their leases show them. */
export class PostgresNodeRegister implements NodeRegister {
  readonly #pool: DatabasePool;

  constructor(pool: DatabasePool) {
    this.#pool = pool;
  }

  async nodes(): Promise<NodeRecord[]> {
    return [
      ...(await this.#pool.any(sql.type(nodeRow)`
        select h.name, h.leaving, h.renewed_at as "lastSeenAt",
          array(
            select p.partition from partition_owners p where p.holder = h.name order by 1
          ) as partitions
        from session_hosts h order by h.name`)),
    ];
  }
}
