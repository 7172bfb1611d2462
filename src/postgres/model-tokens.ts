import { type CommonQueryMethods, type FragmentSqlToken as Fragment, sql } from "slonik";

/** How long the tokens of a day are kept, days. */
const KEPT_DAYS = 31;
/** Of a number on the wire. */
const MOST_TOKENS = 2 ** 32 - 1;
const TODAY = sql.fragment`(now() at time zone 'utc')::date`;

/** SQL for the tokens that a language model has read and written today (UTC) for a tenant. */
export function tokensToday(tenant: Fragment): Fragment {
  return sql.fragment`coalesce(
    (select tokens from model_tokens m where m.day = ${TODAY} and m.tenant = ${tenant}), 0)`;
}

/** Tokens that are left of a day's, as they go over the wire. */
export function tokensLeft(dailyTokens: number, used: number): number {
  return Math.min(MOST_TOKENS, Math.max(0, dailyTokens - used));
}

/** Counts tokens that a language model has read and written for a tenant. */
export async function countTokens(
  connection: CommonQueryMethods,
  tenant: string,
  tokens: number,
): Promise<void> {
  if (tokens === 0) return;
  await connection.query(sql.unsafe`
    insert into model_tokens (tenant, day, tokens) values (${tenant}, ${TODAY}, ${tokens})
    on conflict (day, tenant) do update set tokens = model_tokens.tokens + excluded.tokens`);
  await connection.query(sql.unsafe`
    delete from model_tokens where day < ${TODAY} - ${KEPT_DAYS}::int`);
}
