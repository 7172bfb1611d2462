import { type FragmentSqlToken, sql } from "slonik";
import type { CommandOutcome } from "../actor/outcomes.ts";
import type { Change } from "./append-work.ts";

/** A caller may repeat a command with its key for a day; the transport forgets it within an hour. */
const KEPT = "25 hours";
const MOST = 4_096;

/** Of `CommandOutcome`, the oldest first, as one JSON array; `sessionId` is an expression. */
export function knownOutcomes(sessionId: FragmentSqlToken): FragmentSqlToken {
  return sql.fragment`
    select coalesce(
      json_agg(json_build_object('commandId', command_id, 'outcome', outcome)
        order by at, command_id), '[]')
    from (
      select command_id, outcome, at from command_outcomes
      where session_id = ${sessionId} and at > now() - ${KEPT}::interval
      order by at desc, command_id desc limit ${MOST}
    ) as newest`;
}

/** Those known already stay as they are; those of the session that are old enough go. */
export function outcomeChanges(sessionId: string, outcomes: readonly CommandOutcome[]): Change[] {
  if (outcomes.length === 0) return [];
  const rows = outcomes.map(({ commandId, outcome }) => [commandId, JSON.stringify(outcome)]);
  return [
    {
      writes: ["command_outcomes, old"],
      sql: (when) => sql.fragment`
        delete from command_outcomes
        where session_id = ${sessionId} and at <= now() - ${KEPT}::interval and ${when}`,
    },
    {
      writes: ["command_outcomes"],
      sql: (when) => sql.fragment`
        insert into command_outcomes (session_id, command_id, outcome)
        select ${sessionId}::uuid, o.id, o.outcome
        from ${sql.unnest(rows, ["uuid", "jsonb"])} as o (id, outcome)
        where ${when}
        on conflict do nothing`,
    },
  ];
}
