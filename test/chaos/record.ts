import type { QueryResultRow } from "pg";
import { withClient } from "../../deploy/supervisor/postgres/roles.ts";
import { until } from "../support/until.ts";

const QUEUES_MS = 60_000;

/** Where everything is on record. */
export interface Examined {
  /** As the role that owns everything; another one after a switchover. */
  readonly databaseUrl: string;
  readonly blobFolder: string;
}

/** Looks past the service at what is stored. */
export class Record {
  readonly #cluster: Examined;

  constructor(cluster: Examined) {
    this.#cluster = cluster;
  }

  get blobFolder(): string {
    return this.#cluster.blobFolder;
  }

  /** PostgreSQL may have been killed just now. */
  async ask<T extends QueryResultRow>(text: string, values: unknown[] = []): Promise<T[]> {
    let rows: T[] | undefined;
    let failure: unknown;
    const ask = async (): Promise<boolean> => {
      const result = await withClient(this.#cluster.databaseUrl, (client) =>
        client.query<T>(text, values),
      ).catch((error: unknown) => {
        failure = error;
        return undefined;
      });
      rows = result?.rows;
      return rows !== undefined;
    };
    await until(ask, "the database", QUEUES_MS).catch(() => {
      throw new Error("The database was not to be asked.", { cause: failure });
    });
    return rows ?? [];
  }

  /** Names of tables with a row of which the text holds one of the words. */
  async tablesWith(words: readonly string[], sessionId?: string): Promise<string[]> {
    if (words.length === 0) return [];
    const tables = await this.ask<{ name: string; has: boolean }>(
      `select t.tablename as name, exists (
         select from information_schema.columns c
         where c.table_name = t.tablename and c.column_name = 'session_id') as has
       from pg_tables t where t.schemaname = 'public'`,
    );
    const pattern = `\\m(${words.join("|")})\\M`;
    const found: string[] = [];
    for (const { name, has } of tables) {
      if (sessionId !== undefined && !has) continue;
      const where = sessionId === undefined ? "" : "t.session_id = $2 and";
      const [row] = await this.ask<{ count: number }>(
        `select count(*)::int as count from public."${name}" t where ${where} t::text ~* $1`,
        sessionId === undefined ? [pattern] : [pattern, sessionId],
      );
      if (row?.count) found.push(`${name} (${row.count})`);
    }
    return found;
  }

  /** What is still waiting somewhere, after time to drain. */
  async queues(): Promise<string[]> {
    let left: string[] = [];
    const areEmpty = async (): Promise<boolean> => {
      left = await this.#waiting();
      return left.length === 0;
    };
    await until(areEmpty, "the queues", QUEUES_MS).catch(() => undefined);
    return left;
  }

  async #waiting(): Promise<string[]> {
    const [counts] = await this.ask<{ [table: string]: number }>(
      `select (select count(*)::int from outbox) as outbox,
              (select count(*)::int from jobs where status in ('queued', 'running')) as jobs,
              (select count(*)::int from chunks c join sessions s on s.id = c.session_id
               where c.status in ('pending', 'processing') and s.status <> 'deleted') as chunks,
              (select count(*)::int from sessions
               where status in ('recording', 'processing')) as sessions,
              (select count(*)::int from chunks c join sessions s on s.id = c.session_id
               where c.silence_wanted > c.silence_done and s.status <> 'deleted') as "chunks to silence"`,
    );
    return Object.entries(counts ?? {})
      .filter(([, count]) => count !== 0)
      .map(([name, count]) => `${count} left in ${name}`);
  }
}
