import { type DatabaseTransactionConnection, sql } from "slonik";
import { z } from "zod";
import type { CommandOutcome, Outcome } from "../actor/outcomes.ts";

/** The transport forgets an undelivered command after one hour. */
const KEPT = "2 hours";
const MOST = 4_096;

const outcomeRow = z.object({ commandId: z.string(), outcome: z.unknown() });

/** Oldest first. */
export async function loadOutcomes(
  tx: DatabaseTransactionConnection,
  sessionId: string,
): Promise<CommandOutcome[]> {
  const rows = await tx.any(sql.type(outcomeRow)`
    select command_id as "commandId", outcome from command_outcomes
    where session_id = ${sessionId} and at > now() - ${KEPT}::interval
    order by at desc, command_id desc limit ${MOST}`);
  return rows
    .map(({ commandId, outcome }) => ({ commandId, outcome: outcome as Outcome }))
    .reverse();
}

/** Those known already stay as they are; those of the session that are old enough go. */
export async function saveOutcomes(
  tx: DatabaseTransactionConnection,
  sessionId: string,
  outcomes: readonly CommandOutcome[],
): Promise<void> {
  const rows = outcomes.map(({ commandId, outcome }) => [commandId, JSON.stringify(outcome)]);
  await tx.query(sql.unsafe`
    with old as (
      delete from command_outcomes
      where session_id = ${sessionId} and at <= now() - ${KEPT}::interval)
    insert into command_outcomes (session_id, command_id, outcome)
    select ${sessionId}, o.id, o.outcome
    from ${sql.unnest(rows, ["uuid", "jsonb"])} as o (id, outcome)
    on conflict do nothing`);
}
