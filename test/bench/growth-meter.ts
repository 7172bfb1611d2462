import pg from "pg";
import { exactCpuSeconds, familyCpuSeconds } from "./process-cpu.ts";

/** What a stretch of work cost; CPU in milliseconds of processor time. */
export interface Cost {
  seconds: number;
  mainMs: number;
  postgresMs: number;
  /** Bytes of write-ahead log without images of pages. */
  walBytes: number;
  /** Bytes of page images: the first change of a page after a checkpoint writes all of it. */
  imageBytes: number;
  statements: number;
  /** What each text cost by PostgreSQL's own account. */
  byStatement: Statement[];
}

export interface Statement {
  text: string;
  calls: number;
  ms: number;
  walBytes: number;
}

interface Reading {
  at: number;
  main: number;
  postgres: number;
  lsn: string;
  statements: Map<string, Statement>;
}

interface Log {
  records: number;
  images: number;
}

const STATEMENTS = `
  select queryid::text as id, query as text, calls::float8 as calls, total_exec_time as ms,
    wal_bytes::float8 as "walBytes"
  from pg_stat_statements as s join pg_database as d on d.oid = s.dbid
  where d.datname = current_database() and s.userid <> current_user::regrole`;
/** What PostgreSQL says of a stretch of its log in which no record ends, or none is flushed yet. */
const NOTHING_WRITTEN = /could not find a valid record|must be less than current LSN/;
const WAL = `
  select coalesce(sum(record_size), 0)::float8 as records, coalesce(sum(fpi_size), 0)::float8 as images
  from pg_get_wal_stats($1, $2)`;

/** Reads processor time from /proc and the rest from PostgreSQL, over a connection that is not counted. */
export class GrowthMeter {
  readonly #admin: pg.Client;
  readonly #postgres: number;
  readonly #ours: ReadonlySet<number>;
  /** The process that serves and hosts; another one after a takeover. */
  main: number;

  private constructor(
    admin: pg.Client,
    pids: { postgres: number; main: number; ours: ReadonlySet<number> },
  ) {
    this.#admin = admin;
    this.#postgres = pids.postgres;
    this.#ours = pids.ours;
    this.main = pids.main;
  }

  /** `adminUrl`: of a superuser; `others`: more backends that are the bench's own. */
  static async open(
    adminUrl: string,
    pids: { postgres: number; main: number },
    others: readonly number[],
  ): Promise<GrowthMeter> {
    const admin = new pg.Client({ connectionString: adminUrl, statement_timeout: 60_000 });
    await admin.connect();
    for (const name of ["pg_stat_statements", "pg_walinspect"]) {
      await admin.query(`create extension if not exists ${name}`);
    }
    const { rows } = await admin.query<{ pid: number }>("select pg_backend_pid() as pid");
    const ours = new Set([...others, ...rows.map(({ pid }) => pid)]);
    return new GrowthMeter(admin, { ...pids, ours });
  }

  async close(): Promise<void> {
    await this.#admin.end();
  }

  /** So that what was written before is not cleaned up while something else is measured. */
  async vacuum(): Promise<void> {
    await this.#admin.query("vacuum");
  }

  /** What the work cost all processes of PostgreSQL and our main one; `main` may be another's time. */
  async measure(work: () => Promise<void>, main = () => this.#mainSeconds()): Promise<Cost> {
    const before = await this.#before(main);
    await work();
    return this.#since(before, main);
  }

  #mainSeconds(): number {
    return exactCpuSeconds(this.main);
  }

  async #before(main: () => number): Promise<Reading> {
    const [statements, lsn] = [await this.#statements(), await this.#lsn()];
    return { at: performance.now(), main: main(), postgres: this.#family(), lsn, statements };
  }

  async #since(before: Reading, main: () => number): Promise<Cost> {
    const [mainNow, postgresNow, at] = [main(), this.#family(), performance.now()];
    const lsn = await this.#lsn();
    const { records, images } = await this.#log(before.lsn, lsn);
    const spent = differences(before.statements, await this.#statements());
    return {
      seconds: (at - before.at) / 1_000,
      mainMs: (mainNow - before.main) * 1_000,
      postgresMs: (postgresNow - before.postgres) * 1_000,
      walBytes: records,
      imageBytes: images,
      statements: spent.reduce((sum, { calls }) => sum + calls, 0),
      byStatement: spent,
    };
  }

  /** What was written between two places; nothing where no record ends in between. */
  async #log(from: string, to: string): Promise<Log> {
    const nothing = { records: 0, images: 0 };
    if (from === to) return nothing;
    const { rows } = await this.#admin.query<Log>(WAL, [from, to]).catch((error: unknown) => {
      if (NOTHING_WRITTEN.test(String(error))) return { rows: [nothing] };
      throw error;
    });
    return rows[0] ?? nothing;
  }

  #family(): number {
    return familyCpuSeconds(this.#postgres, this.#ours);
  }

  async #lsn(): Promise<string> {
    const { rows } = await this.#admin.query("select pg_current_wal_insert_lsn()::text as lsn");
    return rows[0].lsn;
  }

  async #statements(): Promise<Map<string, Statement>> {
    const { rows } = await this.#admin.query<Statement & { id: string }>(STATEMENTS);
    return new Map(rows.map(({ id, ...statement }) => [id, statement]));
  }
}

function differences(
  before: ReadonlyMap<string, Statement>,
  after: ReadonlyMap<string, Statement>,
): Statement[] {
  return [...after].flatMap(([id, { text, calls, ms, walBytes }]) => {
    const known = before.get(id);
    if (known?.calls === calls) return [];
    return {
      text: text.replace(/\s+/g, " ").trim(),
      calls: calls - (known?.calls ?? 0),
      ms: ms - (known?.ms ?? 0),
      walBytes: walBytes - (known?.walBytes ?? 0),
    };
  });
}
