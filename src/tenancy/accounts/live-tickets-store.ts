import { type DatabasePool, sql } from "slonik";
import { z } from "zod";
import { type Principal, SCOPES } from "../../access/principal.ts";
import { toInstant } from "../../postgres/columns.ts";
import { optionalColumn } from "../../postgres/optional-column.ts";
import { roleColumn } from "./users-store.ts";

const principalSchema = z.discriminatedUnion("kind", [
  z.object({
    kind: z.literal("user"),
    id: z.string(),
    role: roleColumn,
    tokenId: z.string(),
    expiresAt: z.number(),
  }),
  z.object({
    kind: z.literal("guest"),
    id: z.string(),
    role: z.literal("guest"),
    sessionId: z.string(),
    displayName: z.string(),
    tokenId: z.string(),
    expiresAt: z.number(),
  }),
  z.object({
    kind: z.literal("device"),
    id: z.string(),
    keyId: z.string(),
    workspaceId: z.string(),
    ownerId: z.string(),
    expiresAt: z.number(),
  }),
  z.object({
    kind: z.literal("service"),
    id: z.string(),
    secretId: z.string(),
    workspaceId: z.string(),
    makerId: z.string(),
    scopes: z.array(z.enum(SCOPES)),
    expiresAt: z.number(),
  }),
]);

const ticketRow = z.object({
  principal: principalSchema,
  sessionId: optionalColumn(z.string()),
  live: z.boolean(),
});

/** What a ticket opens: a viewer's or a device's WebSocket, or a call into one session. */
export type TicketUse = "socket" | "call";

/** What stands behind a ticket. */
export interface Ticketed {
  principal: Principal;
  /** Of a ticket for a call. */
  sessionId?: string | undefined;
}

/** Stored tickets, by the hash of the ticket that was issued. */
export class TicketStore {
  readonly #pool: DatabasePool;

  constructor(pool: DatabasePool) {
    this.#pool = pool;
  }

  async put(
    ticketHash: Uint8Array,
    { principal, sessionId }: Ticketed,
    expiresAt: number,
  ): Promise<void> {
    await this.#pool.query(sql.unsafe`
      insert into live_tickets (ticket_hash, principal, session_id, expires_at)
      values (${sql.binary(Buffer.from(ticketHash))}, ${JSON.stringify(principal)}::jsonb,
        ${sessionId ?? null}, ${toInstant(expiresAt)})`);
  }

  /**
   * Returns what stands behind the ticket, at most once; undefined when it is unknown, used, of
   * another use, or expired at `now`.
   */
  async take(ticketHash: Uint8Array, use: TicketUse, now: number): Promise<Ticketed | undefined> {
    const row = await this.#pool.maybeOne(sql.type(ticketRow)`
      delete from live_tickets where ticket_hash = ${sql.binary(Buffer.from(ticketHash))}
        and (session_id is not null) = ${use === "call"}
      returning principal, session_id as "sessionId", expires_at > ${toInstant(now)} as live`);
    // Deletes expired tickets that were never redeemed, a few at a time to keep this call short.
    await this.#pool.query(sql.unsafe`
      delete from live_tickets where ticket_hash in (
        select ticket_hash from live_tickets where expires_at < ${toInstant(now)}
        limit 100 for update skip locked)`);
    return row?.live ? row : undefined;
  }
}
