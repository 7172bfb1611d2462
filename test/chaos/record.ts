import { connect, type JetStreamManager } from "nats";
import type { QueryResultRow } from "pg";
import { withClient } from "../../deploy/supervisor/postgres/roles.ts";
import { COMMAND_STREAM } from "../../src/wire/subjects.ts";
import { until } from "../support/until.ts";

const QUEUES_MS = 60_000;

/** Where everything is on record. */
export interface Examined {
  /** As the role that owns everything; another one after a switchover. */
  readonly databaseUrl: string;
  /** One or more addresses, comma-separated. */
  readonly nats: { readonly url: string; readonly token: string };
  readonly blobFolder: string;
}

/** Looks past the service at what is stored. */
export class Record {
  readonly #stage: Examined;

  constructor(stage: Examined) {
    this.#stage = stage;
  }

  get blobFolder(): string {
    return this.#stage.blobFolder;
  }

  /** PostgreSQL may have been killed just now. */
  async ask<T extends QueryResultRow>(text: string, values: unknown[] = []): Promise<T[]> {
    let rows: T[] | undefined;
    let failure: unknown;
    const ask = async (): Promise<boolean> => {
      const result = await withClient(this.#stage.databaseUrl, (client) =>
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
    const { url, token } = this.#stage.nats;
    const bus = await connect({ servers: url.split(","), token });
    try {
      const manager = await bus.jetstreamManager();
      const left = Object.entries(counts ?? {})
        .filter(([, count]) => count !== 0)
        .map(([name, count]) => `${count} left in ${name}`);
      return [...left, ...(await unread(manager))];
    } finally {
      await bus.close();
    }
  }
}

/**
 * Commands in the stream that somebody has yet to carry out. A nats-server that was killed may bring
 * back what was acknowledged: the consumer of its partition is past it, and nobody gets it again.
 */
async function unread(manager: JetStreamManager): Promise<string[]> {
  const { state } = await manager.streams.info(COMMAND_STREAM);
  if (state.messages === 0) return [];
  const acknowledged = new Map<string, number>();
  for await (const { config, ack_floor } of manager.consumers.list(COMMAND_STREAM)) {
    acknowledged.set(config.filter_subject ?? "", ack_floor.stream_seq);
  }
  const left: string[] = [];
  for (let seq = state.first_seq; seq <= state.last_seq; seq += 1) {
    const message = await manager.streams
      .getMessage(COMMAND_STREAM, { seq })
      .catch(() => undefined);
    if (message === undefined) continue;
    const floor = acknowledged.get(message.subject);
    if (floor !== undefined && floor >= seq) continue;
    left.push(`message ${seq} on ${message.subject} is left; acknowledged up to ${floor}`);
  }
  return left;
}
