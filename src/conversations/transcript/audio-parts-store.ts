import { type CommonQueryMethods, sql } from "slonik";
import { z } from "zod";

type Fragment = ReturnType<typeof sql.fragment>;

/**
 * SQL for the bytes that belong before a later part of a stream: the stream's head, and what began
 * in the part before; null when its beginning is not there.
 */
export function leadOf(sessionId: Fragment, sequence: Fragment): Fragment {
  return sql.fragment`(
    select h.head || coalesce((
      select p.carry from audio_parts p
      where p.session_id = ${sessionId} and p.sequence = ${sequence} - 1
    ), ''::bytea)
    from audio_parts h
    where h.session_id = ${sessionId} and h.sequence < ${sequence} and h.head is not null
    order by h.sequence desc limit 1)`;
}

const leadRow = z.object({ lead: z.instanceof(Buffer).nullable() });
const beforeRow = leadRow.extend({
  isThere: z.boolean(),
  isOpen: z.boolean(),
  isPart: z.boolean(),
});

/** What is known of the stream before a part; undefined `lead`: its beginning is not there. */
export async function readLead(
  connection: CommonQueryMethods,
  sessionId: string,
  sequence: number,
): Promise<Uint8Array | undefined> {
  const { lead } = await connection.one(sql.type(leadRow)`
    select ${leadOf(sql.fragment`${sessionId}::uuid`, sql.fragment`${sequence}::int`)} as lead`);
  return lead ?? undefined;
}

/** What a part follows; see `partBefore`. */
export type PartBefore = { kind: "lead"; lead: Uint8Array } | { kind: "missing" | "other" };

/**
 * Whether the chunk before is a part of a stream that the part may continue: "missing" when it is
 * not there or was not measured yet, "other" when it is something else.
 */
export async function partBefore(
  connection: CommonQueryMethods,
  sessionId: string,
  sequence: number,
): Promise<PartBefore> {
  if (sequence === 0) return { kind: "other" };
  const { lead, isThere, isOpen, isPart } = await connection.one(sql.type(beforeRow)`
    select ${leadOf(sql.fragment`${sessionId}::uuid`, sql.fragment`${sequence}::int`)} as lead,
      exists (
        select from chunks where session_id = ${sessionId} and sequence = ${sequence - 1}
      ) as "isThere",
      coalesce((
        select carry is null from audio_parts
        where session_id = ${sessionId} and sequence = ${sequence - 1}
      ), false) as "isOpen",
      exists (
        select from audio_parts where session_id = ${sessionId} and sequence = ${sequence - 1}
      ) as "isPart"`);
  if (!isThere || isOpen) return { kind: "missing" };
  return isPart && lead !== null ? { kind: "lead", lead } : { kind: "other" };
}

/** Keeps what later parts of the stream need of a chunk; without a carry it was not measured yet. */
export async function savePart(
  connection: CommonQueryMethods,
  { sessionId, sequence }: { sessionId: string; sequence: number },
  { head, carry }: { head?: Uint8Array; carry?: Uint8Array },
): Promise<void> {
  const bytes = (data?: Uint8Array) => (data === undefined ? null : sql.binary(Buffer.from(data)));
  await connection.query(sql.unsafe`
    insert into audio_parts (session_id, sequence, head, carry)
    values (${sessionId}, ${sequence}, ${bytes(head)}, ${bytes(carry)})`);
}

/** Keeps what later parts need of a part that is measured; `head` where it is with it that the head is whole. */
export async function saveMeasured(
  connection: CommonQueryMethods,
  { sessionId, sequence }: { sessionId: string; sequence: number },
  { head, carry }: { head?: Uint8Array | undefined; carry: Uint8Array },
): Promise<void> {
  const whole = head === undefined ? null : sql.binary(Buffer.from(head));
  await connection.query(sql.unsafe`
    update audio_parts
    set carry = ${sql.binary(Buffer.from(carry))}, head = coalesce(${whole}::bytea, head)
    where session_id = ${sessionId} and sequence = ${sequence}`);
}

/** For whoever deletes a session. */
export async function eraseParts(tx: CommonQueryMethods, { id }: { id: string }): Promise<void> {
  await tx.query(sql.unsafe`delete from audio_parts where session_id = ${id}`);
}
