import { type DatabasePool, sql } from "slonik";
import { z } from "zod";
import { type Principal, SCOPES } from "../../access/principal.ts";
import { toInstant } from "../../postgres/columns.ts";
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

const ticketRow = z.object({ principal: principalSchema, live: z.boolean() });

/** Stored tickets, by the hash of the ticket that was issued. */
export class TicketStore {
  readonly #pool: DatabasePool;

  constructor(pool: DatabasePool) {
    this.#pool = pool;
  }

  async put(ticketHash: Uint8Array, principal: Principal, expiresAt: number): Promise<void> {
    await this.#pool.query(sql.unsafe`
      insert into live_tickets (ticket_hash, principal, expires_at)
      values (${sql.binary(Buffer.from(ticketHash))}, ${JSON.stringify(principal)}::jsonb,
        ${toInstant(expiresAt)})`);
  }

  /**
   * Returns the ticket's principal, at most once; undefined when unknown, used, or expired at
   * `now`.
   */
  async take(ticketHash: Uint8Array, now: number): Promise<Principal | undefined> {
    const row = await this.#pool.maybeOne(sql.type(ticketRow)`
      delete from live_tickets where ticket_hash = ${sql.binary(Buffer.from(ticketHash))}
      returning principal, expires_at > ${toInstant(now)} as live`);
    // Deletes expired tickets that were never redeemed, a few at a time to keep this call short.
    await this.#pool.query(sql.unsafe`
      delete from live_tickets where ticket_hash in (
        select ticket_hash from live_tickets where expires_at < ${toInstant(now)}
        limit 100 for update skip locked)`);
    return row?.live ? row.principal : undefined;
  }
}
