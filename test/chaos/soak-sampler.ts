import { readdirSync, readFileSync } from "node:fs";
import { loadavg } from "node:os";
import type { Client } from "pg";
import { parentOf } from "../bench/process-cpu.ts";
import { quantile } from "../bench/statistics.ts";
import { scrape } from "../support/scraped-metrics.ts";
import type { WholeService } from "../support/whole-service.ts";

const MIB = 1_048_576;
/** Rows of these come and go: their tables must not grow. */
const PASSING = [
  "outbox",
  "audio_pieces",
  "audio_streams",
  "checkpoints",
  "versioned_snapshots",
] as const;
/** Rows of these stay; what may not grow is what they cost. */
const KEPT = ["sessions", "events", "chunks", "segments", "jobs", "devices"] as const;
const FEWEST_ROWS = 500;

/** Latencies of the time since the last sample, by name, milliseconds. */
export class Latencies {
  readonly #values = new Map<string, number[]>();

  add(name: string, ms: number): void {
    const values = this.#values.get(name) ?? [];
    values.push(ms);
    this.#values.set(name, values);
  }

  /** Empties it. */
  take(): Record<string, number> {
    const figures: Record<string, number> = {};
    for (const [name, values] of this.#values) {
      figures[`${name} p50 ms`] = quantile(values, 0.5);
      figures[`${name} p95 ms`] = quantile(values, 0.95);
      figures[`${name} count`] = values.length;
    }
    this.#values.clear();
    return figures;
  }
}

/** Reads what processes, tables and the log of PostgreSQL have come to. */
export class SoakSampler {
  readonly #service: WholeService;
  readonly #database: Client;
  #wal: number | undefined;

  constructor(service: WholeService, database: Client) {
    this.#service = service;
    this.#database = database;
  }

  async take(minutesSince: number): Promise<Record<string, number>> {
    return {
      // What else the machine does shows in the latencies.
      "load of the machine": loadavg()[0] ?? Number.NaN,
      ...this.#processes(),
      ...(await this.#heap()),
      ...(await this.#tables()),
      ...(await this.#log(minutesSince)),
      ...(await this.#sessions()),
    };
  }

  #processes(): Record<string, number> {
    const figures: Record<string, number> = {};
    const { pids, supervisor } = this.#service.ready;
    for (const [part, pid] of Object.entries({ ...pids, supervisor })) {
      // The memory that PostgreSQL's processes share is counted once.
      const all = part === "postgres" ? treeOf(pid) : [pid];
      figures[`${part} MiB`] = sum(all.map(memoryOf)) / MIB;
      // A server process opens the files of every table that it meets.
      if (part === "postgres") figures["postgres processes"] = all.length;
      else figures[`${part} fds`] = sum(all.map(openFilesOf));
    }
    return figures;
  }

  async #heap(): Promise<Record<string, number>> {
    const metrics = await scrape(this.#service.ready.ops_url);
    const heap = metrics.get("nodejs_heap_size_used_bytes");
    const active = metrics.get("voice_sessions_active");
    return {
      "main heap MiB": (heap ?? Number.NaN) / MIB,
      "sessions active": active ?? Number.NaN,
    };
  }

  async #tables(): Promise<Record<string, number>> {
    const { rows } = await this.#database.query<{
      name: string;
      bytes: string;
      indexes: string;
      live: string;
      dead: string;
    }>(`select relname as name, pg_total_relation_size(relid) as bytes,
          pg_indexes_size(relid) as indexes, n_live_tup as live, n_dead_tup as dead
        from pg_stat_user_tables`);
    const figures: Record<string, number> = {};
    const table = (name: string) => rows.find((row) => row.name === name);
    for (const name of PASSING) figures[`${name} KiB`] = Number(table(name)?.bytes) / 1_024;
    for (const name of KEPT) {
      const { bytes = 0, live = 0, indexes = 0 } = table(name) ?? {};
      figures[`${name} rows`] = Number(live);
      if (Number(live) < FEWEST_ROWS) continue;
      figures[`${name} bytes/row`] = Number(bytes) / Number(live);
      figures[`${name} index bytes/row`] = Number(indexes) / Number(live);
    }
    figures["all tables MiB"] = sum(rows.map(({ bytes }) => Number(bytes))) / MIB;
    const [dead, live] = [
      sum(rows.map((r) => Number(r.dead))),
      sum(rows.map((r) => Number(r.live))),
    ];
    figures["dead rows %"] = (100 * dead) / Math.max(1, dead + live);
    return figures;
  }

  async #log(minutes: number): Promise<Record<string, number>> {
    const { rows } = await this.#database.query<{ bytes: string }>(
      "select pg_wal_lsn_diff(pg_current_wal_lsn(), '0/0') as bytes",
    );
    const now = Number(rows[0]?.bytes);
    const written = this.#wal === undefined ? Number.NaN : now - this.#wal;
    this.#wal = now;
    return { "WAL MiB/min": written / MIB / minutes };
  }

  /** Activations per living session: a rest and a return each cost one. */
  async #sessions(): Promise<Record<string, number>> {
    const { rows } = await this.#database.query<Record<string, string>>(
      `select coalesce(sum(epoch) filter (where status = 'recording'), 0) as epochs,
              count(*) filter (where status = 'recording') as living,
              (select count(*) from jobs where status in ('queued', 'running')
                 and created_at < now() - interval '30 minutes') as left,
              (select sum(revision) from partition_owners) as changes
       from sessions`,
    );
    const { epochs = 0, living = 0, left = 0, changes = 0 } = rows[0] ?? {};
    return {
      "sessions recording": Number(living),
      "activations of the recording": Number(epochs),
      "jobs of 30 min and more": Number(left),
      "changes of owner": Number(changes),
    };
  }
}

/** The process and all below it. */
function treeOf(root: number): number[] {
  const pids = readdirSync("/proc").map(Number).filter(Number.isInteger);
  return pids.filter((pid) => pid === root || parentOf(pid) === root);
}

/** Its own share of what it has in memory, bytes; 0 for one that is gone. */
function memoryOf(pid: number): number {
  try {
    const text = readFileSync(`/proc/${pid}/smaps_rollup`, "utf8");
    return Number(/^Pss:\s+(\d+) kB$/m.exec(text)?.[1] ?? 0) * 1_024;
  } catch {
    return 0;
  }
}

function openFilesOf(pid: number): number {
  try {
    return readdirSync(`/proc/${pid}/fd`).length;
  } catch {
    return 0;
  }
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}
