import { type FragmentSqlToken as Fragment, sql } from "slonik";

/**
 * SQL condition: the owner `u` of the device `d` may record in its workspace. An administrator may
 * without being a member.
 */
const BELONGS = sql.fragment`(u.role = 'admin' or exists (
  select from workspace_members m
  where m.workspace_id = d.workspace_id and m.user_id = u.id))`;

/** SQL condition: the device `d` has the rights of its owner `u`. */
export const OWNER_IS_ACTIVE: Fragment = sql.fragment`(u.disabled_at is null and ${BELONGS})`;

/**
 * SQL: since when the owner `u` of the device `d` gives it no right; null while they do. A departure
 * of which no time is known was before everything.
 */
export const OWNER_GONE_AT: Fragment = sql.fragment`least(u.disabled_at,
  case when not ${BELONGS} then coalesce((
    select left_at from workspace_departures gone
    where gone.workspace_id = d.workspace_id and gone.user_id = u.id), to_timestamp(0)) end)`;
