import { type CommonQueryMethods, sql } from "slonik";
import { z } from "zod";
import { newId } from "../base/ids.ts";
import type { OutboxRow } from "./sessions-outbox.ts";

const nothing = z.object({}).strict();

/** A command to a session's actor; the row's id is the command's. */
export function outboxRow(
  sessionId: string,
  command: OutboxRow["command"],
  id = newId(),
): OutboxRow {
  return { id, sessionId, command };
}

/** Writes the command in the transaction that makes it due. */
export async function writeOutbox(connection: CommonQueryMethods, row: OutboxRow): Promise<void> {
  await connection.query(sql.type(nothing)`
    insert into outbox (id, session_id, command)
    values (${row.id}, ${row.sessionId}, ${JSON.stringify(row.command)}::jsonb)
  `);
}
