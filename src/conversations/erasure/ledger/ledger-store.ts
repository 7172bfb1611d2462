import { type CommonQueryMethods, type DatabasePool, sql } from "slonik";
import { z } from "zod";
import { toInstant } from "../../../postgres/columns.ts";
import { optionalColumn } from "../../../postgres/optional-column.ts";
import { endSignInsAgain } from "../../../tenancy/accounts/sign-in-store.ts";
import { endDeviceKeysAgain } from "../../../tenancy/devices/store.ts";
import { endServiceKeysAgain } from "../../../tenancy/workspaces/service-keys-store.ts";
import {
  erasureKind,
  type LedgerEntry,
  type LedgerFile,
  type LedgerFileId,
  redactionShape,
  SESSION_ERASURES,
} from "./ledger-folder.ts";

/** Health tells files that were missed within this time, days. */
const NEWS_DAYS = 7;
/** So long a new file may be unseen by others on a network file system, minutes. */
const UNSEEN_MINUTES = 2;

const entryRow = z.object({
  id: z.string(),
  kind: erasureKind,
  at: z.number(),
  redaction: optionalColumn(redactionShape),
});
const redactionRow = redactionShape.extend({ id: z.string() });
const placeRow = z.object({ chain: z.string(), number: z.number() });
const tailRow = placeRow.extend({ at: z.number() });
const knownRow = placeRow.extend({ isSettled: z.boolean() });
const gapRow = z.object({ files: z.number(), since: z.number(), at: z.number() });
const idRow = z.object({ id: z.string() });

/** Files of a chain that are missing, and the span in which they were written, Unix milliseconds. */
export type LedgerGap = z.output<typeof gapRow>;

/** A redaction that a restored database does not have. */
export type UndoneRedaction = z.output<typeof redactionRow>;

/** A file has times in whole milliseconds, the database in thousandths of those. */
const EXACT = sql.fragment`interval '1 millisecond'`;

/** Each ends again, in its own tables, what the ledger says has ended. */
const ENDINGS = [endDeviceKeysAgain, endServiceKeysAgain, endSignInsAgain];

/** Notes an erasure in the transaction that does it, so that it comes into the ledger. */
export async function noteErasure(
  tx: CommonQueryMethods,
  { id, kind, redaction }: Omit<LedgerEntry, "at">,
): Promise<void> {
  await tx.query(sql.unsafe`
    insert into erasures (subject_id, kind, redaction)
    values (${id}, ${kind}, ${redaction === undefined ? null : JSON.stringify(redaction)}::jsonb)
    on conflict (subject_id) do nothing`);
}

/** Erasures, and which file of the ledger has which. Throws `unavailable`. */
export class ErasureLedgerStore {
  readonly #pool: DatabasePool;

  constructor(pool: DatabasePool) {
    this.#pool = pool;
  }

  /** Erasures that are in no file yet, the newest first. */
  pending(limit: number): Promise<readonly LedgerEntry[]> {
    return this.#pool.any(sql.type(entryRow)`
      select subject_id as id, kind, at, redaction from erasures where chain is null
      order by at desc limit ${limit}`);
  }

  isPending(id: string): Promise<boolean> {
    return this.#pool.exists(sql.unsafe`
      select from erasures where subject_id = ${id} and chain is null`);
  }

  /** The last files of the chains that were written to last. */
  tails(limit: number): Promise<readonly z.output<typeof tailRow>[]> {
    return this.#pool.any(sql.type(tailRow)`
      select chain, number, at from (
        select distinct on (chain) chain, number, at from erasure_ledger_files
        order by chain, number desc) tails
      order by at desc limit ${limit}`);
  }

  /** Notes a durable file and what is in it: also erasures that this database did not know. */
  async merge(file: LedgerFile): Promise<{ news: number }> {
    const { chain, number, since, at, after, entries } = file;
    const ids = sql.array(column(entries, "id"), "uuid");
    const kinds = sql.array(column(entries, "kind"), "text");
    const times = sql.array(column(entries, "at"), "float8");
    const details = entries.map(({ redaction }) => redaction && JSON.stringify(redaction));
    const redactions = sql.array(
      details.map((detail) => detail ?? null),
      "text",
    );
    return this.#pool.transaction(async (tx) => {
      const { rowCount: news } = await tx.query(sql.unsafe`
        insert into erasures (subject_id, kind, at, redaction, chain, number)
        select id, kind, to_timestamp(at / 1000), redaction::jsonb, ${chain}::uuid, ${number}
        from unnest(${ids}, ${kinds}, ${times}, ${redactions}) as e (id, kind, at, redaction)
        order by id
        on conflict (subject_id) do update set at = excluded.at
        where erasures.at >= excluded.at + ${EXACT}`);
      // A right that ends sooner by now than the file says comes into another file.
      await tx.query(sql.unsafe`
        update erasures set chain = ${chain}, number = ${number}
        where subject_id in (
          select subject_id from erasures
            join unnest(${ids}, ${times}) as e (id, told) on e.id = subject_id
          where chain is null and at > to_timestamp(told / 1000) - ${EXACT}
          order by subject_id for update of erasures)`);
      await tx.query(sql.unsafe`
        insert into erasure_ledger_files (chain, number, since, at)
        values (${chain}, ${number}, ${toInstant(since)}, ${toInstant(at)})
        on conflict (chain, number) do update
          set since = excluded.since, at = excluded.at, missing_since = null`);
      // Missing until it is found; the file that was read last may be the first of them.
      await tx.query(sql.unsafe`
        insert into erasure_ledger_files (chain, number, at, missing_since)
        select chain, number, to_timestamp(at / 1000), now()
        from unnest(${sql.array(column(after, "chain"), "uuid")},
          ${sql.array(column(after, "number"), "int4")},
          ${sql.array(column(after, "at"), "float8")}) as e (chain, number, at)
        order by chain, number
        on conflict (chain, number) do nothing`);
      return { news };
    });
  }

  /** Files that are not known to be missing; `isSettled` when everybody must see them by now. */
  known(): Promise<readonly z.output<typeof knownRow>[]> {
    return this.#pool.any(sql.type(knownRow)`
      select chain, number, at < now() - make_interval(mins => ${UNSEEN_MINUTES}) as "isSettled"
      from erasure_ledger_files where missing_since is null`);
  }

  /** Notes that known files are gone: what they held is to be written again. */
  async lose(places: readonly LedgerFileId[]): Promise<void> {
    const gone = sql.fragment`unnest(${sql.array(column(places, "chain"), "uuid")},
      ${sql.array(column(places, "number"), "int4")}) as g (chain, number)`;
    await this.#pool.transaction(async (tx) => {
      await tx.query(sql.unsafe`
        update erasure_ledger_files f set missing_since = now() from ${gone}
        where f.chain = g.chain and f.number = g.number and f.missing_since is null`);
      await tx.query(sql.unsafe`
        update erasures e set chain = null, number = null from ${gone}
        where e.chain = g.chain and e.number = g.number`);
    });
  }

  /** Notes files that must have been there by the numbers of their chain, and when. */
  async closeGaps(): Promise<void> {
    await this.#pool.query(sql.unsafe`
      insert into erasure_ledger_files (chain, number, at, missing_since)
      select c.chain, n, (
          select coalesce(f.since, f.at) from erasure_ledger_files f
          where f.chain = c.chain and f.number > n order by f.number limit 1), now()
      from (select chain, max(number) as last from erasure_ledger_files group by chain) c
        cross join lateral generate_series(1, c.last) n
      where not exists (
        select from erasure_ledger_files f where f.chain = c.chain and f.number = n)
      on conflict do nothing`);
    // A chain's id begins with the time of its beginning (UUIDv7).
    await this.#pool.query(sql.unsafe`
      update erasure_ledger_files f set since = coalesce(
        (select max(p.at) from erasure_ledger_files p
          where p.chain = f.chain and p.number < f.number and p.missing_since is null),
        to_timestamp(('x' || translate(left(f.chain::text, 13), '-', ''))::bit(48)::bigint / 1000.0))
      where since is null`);
  }

  /** Files that were missed lately, by chain. */
  gaps(limit: number): Promise<readonly LedgerGap[]> {
    return this.#pool.any(sql.type(gapRow)`
      select count(*)::int as files, min(since) as since, max(at) as at
      from erasure_ledger_files
      where missing_since > now() - make_interval(days => ${NEWS_DAYS})
      group by chain order by min(since) limit ${limit}`);
  }

  /** What is on the ledger and there all the same, as in a restored database; but `except`. */
  undone(limit: number, except: readonly string[]): Promise<readonly LedgerEntry[]> {
    const others = sql.fragment`e.subject_id <> all(${sql.array([...except], "uuid")})`;
    return this.#pool.any(sql.type(entryRow)`
      select e.subject_id as id, e.kind, e.at, e.redaction
      from erasures e
        left join sessions s on s.id = e.subject_id and s.status <> 'deleted'
        left join users u on u.id = e.subject_id and u.erased_at is null
      where ${others} and e.kind <> 'span_redacted'
        and case e.kind when 'account_erased' then u.id else s.id end is not null
      order by e.kind = 'account_erased', e.at limit ${limit}`);
  }

  /** Redactions on the ledger of which the session has no event; but `except`. */
  undoneRedactions(limit: number, except: readonly string[]): Promise<readonly UndoneRedaction[]> {
    return this.#pool.any(sql.type(redactionRow)`
      select e.subject_id as id, r."sessionId", r."from", r."to", r.label, r."byUserId"
      from erasures e
        cross join lateral jsonb_to_record(e.redaction) as r
          ("sessionId" uuid, "from" float8, "to" float8, label text, "byUserId" text)
        join sessions s on s.id = r."sessionId" and s.status <> 'deleted'
      where e.kind = 'span_redacted'
        and e.subject_id <> all(${sql.array([...except], "uuid")})
        and not exists (
          select from events v
          where v.session_id = s.id and v.type = 'SpanRedacted'
            and v.payload ->> 'redactionId' = e.subject_id::text)
      order by e.at limit ${limit}`);
  }

  /** Ends rights again that the ledger says have ended; resolves to how many. */
  async endRightsAgain(): Promise<number> {
    const ended = await Promise.all(ENDINGS.map((end) => end(this.#pool)));
    return ended.reduce((sum, count) => sum + count, 0);
  }

  /** Those of the sessions that are on the ledger and that this database does not have. */
  async orphaned(sessionIds: readonly string[]): Promise<string[]> {
    const rows = await this.#pool.any(sql.type(idRow)`
      select subject_id as id from erasures
      where subject_id = any(${sql.array([...sessionIds], "uuid")})
        and kind = any(${sql.array([...SESSION_ERASURES], "text")})
        and not exists (select from sessions s where s.id = subject_id)`);
    return rows.map(({ id }) => id);
  }
}

function column<T, K extends keyof T>(rows: readonly T[], key: K): T[K][] {
  return rows.map((row) => row[key]);
}
