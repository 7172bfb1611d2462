import { type CommonQueryMethods, type DatabasePool, sql } from "slonik";
import { z } from "zod";
import { insertAuditEntry } from "../../access/audit-entries-store.ts";
import { newId } from "../../base/ids.ts";
import { allOf } from "../../postgres/columns.ts";
import type { Span } from "../../session/segments.ts";

const voiceRow = z.object({
  workspaceId: z.string(),
  sessionId: z.string(),
  label: z.string(),
  method: z.string(),
  encrypted: z.instanceof(Buffer),
  speechMs: z.number(),
  keepAfterDeletion: z.boolean(),
  rememberedAt: z.number(),
});

/** A remembered voice; its print is encrypted. */
export type RememberedVoice = z.output<typeof voiceRow>;

const lapsedRow = z.object({ workspaceId: z.string(), lapsedAt: z.number() });

type LapsedVoice = z.output<typeof lapsedRow>;

const COLUMNS = sql.fragment`
  workspace_id as "workspaceId", session_id as "sessionId", label, method, sealed as encrypted,
  speech_ms as "speechMs", keep_after_deletion as "keepAfterDeletion",
  remembered_at as "rememberedAt"`;

const nothing = z.object({}).strict();

const claimProofRow = z.object({
  isContested: z.boolean(),
  isConfirmed: z.boolean(),
  isOwner: z.boolean(),
  isAlone: z.boolean(),
});

/** What a person's claim on a label of a session says of whose voice it is. */
export interface ClaimProof {
  /** Somebody else has said since that the voice is theirs. */
  isContested: boolean;
  /** Somebody else made the claim: the session's owner, by assigning the label. */
  isConfirmed: boolean;
  /** The session is the claimant's own. */
  isOwner: boolean;
  /** No other voice was told apart in the session. */
  isAlone: boolean;
}

/** A print that was made, and which spans of the session's sound it was made of. */
interface MadeVoice extends Omit<RememberedVoice, "rememberedAt"> {
  spans: readonly Span[];
}

/** Voices that people consented to have remembered. Throws `unavailable` when storage is away. */
export class RememberedVoiceStore {
  readonly #pool: DatabasePool;

  constructor(pool: DatabasePool) {
    this.#pool = pool;
  }

  /** All that is remembered of a person, by workspace. */
  async of(userId: string): Promise<RememberedVoice[]> {
    const rows = await this.#pool.any(sql.type(voiceRow)`
      select ${COLUMNS} from remembered_voices where user_id = ${userId} order by workspace_id`);
    return [...rows];
  }

  /**
   * Workspaces in which the person's voice was remembered by a method that is gone, until they give a
   * new one or decline.
   */
  async lapsed(userId: string): Promise<LapsedVoice[]> {
    const rows = await this.#pool.any(sql.type(lapsedRow)`
      select workspace_id as "workspaceId", lapsed_at as "lapsedAt"
      from lapsed_voices where user_id = ${userId} order by workspace_id`);
    return [...rows];
  }

  /** Undefined when the person does not claim the label, or the session was deleted. */
  claimProof(userId: string, sessionId: string, label: string): Promise<ClaimProof | undefined> {
    return readClaimProof(this.#pool, userId, sessionId, label);
  }

  /**
   * Remembers a voice in place of the one before, with its audit entry. `mayRemember` throws when
   * the claim, as it stands now, is not enough. Undefined, and nothing is kept, when meanwhile the
   * workspace was left or the sound was deleted, redacted or given to another label.
   */
  put(
    userId: string,
    voice: MadeVoice,
    mayRemember: (proof: ClaimProof | undefined) => void,
  ): Promise<RememberedVoice | undefined> {
    const { workspaceId, sessionId, label, method, encrypted, speechMs, keepAfterDeletion } = voice;
    return this.#pool.transaction(async (tx) => {
      // Claims change, and sessions are redacted and deleted, under this lock.
      await tx.query(sql.unsafe`select from sessions where id = ${sessionId} for share`);
      mayRemember(await readClaimProof(tx, userId, sessionId, label));
      const member = await tx.maybeOne(sql.type(nothing)`
        select from workspace_members
        where workspace_id = ${workspaceId} and user_id = ${userId} for key share`);
      if (member === null || !(await isThere(tx, voice))) return undefined;
      // Suggestions of the voice before go with it.
      await tx.query(sql.unsafe`
        delete from remembered_voices
        where workspace_id = ${workspaceId} and user_id = ${userId}`);
      await tx.query(sql.unsafe`
        delete from lapsed_voices
        where workspace_id = ${workspaceId} and user_id = ${userId}`);
      const row = await tx.one(sql.type(voiceRow)`
        insert into remembered_voices
          (workspace_id, user_id, id, session_id, label, method, sealed, speech_ms,
           keep_after_deletion)
        values (${workspaceId}, ${userId}, ${newId()}, ${sessionId}, ${label}, ${method},
          ${sql.binary(encrypted)}, ${speechMs}, ${keepAfterDeletion})
        returning ${COLUMNS}`);
      await insertAuditEntry(tx, {
        kind: "voice_remembered",
        actor: { kind: "user", id: userId },
        workspaceId,
        sessionId,
        subjectId: userId,
        detail: {
          label,
          method,
          speech_ms: speechMs,
          consent: true,
          keep_after_deletion: keepAfterDeletion,
        },
      });
      return row;
    });
  }

  /** Forgets the person's voice in one workspace or in all; returns in how many. */
  forget(userId: string, workspaceId: string | undefined): Promise<number> {
    const conditions = [sql.fragment`user_id = ${userId}`];
    if (workspaceId !== undefined) conditions.push(sql.fragment`workspace_id = ${workspaceId}`);
    return this.#pool.transaction(async (tx) => {
      await tx.query(sql.unsafe`delete from lapsed_voices where ${allOf(conditions)}`);
      const rows = await tx.any(sql.type(z.object({ workspaceId: z.string() }))`
        delete from remembered_voices where ${allOf(conditions)}
        returning workspace_id as "workspaceId"`);
      for (const row of rows) {
        await insertAuditEntry(tx, {
          kind: "voice_forgotten",
          actor: { kind: "user", id: userId },
          workspaceId: row.workspaceId,
          subjectId: userId,
        });
      }
      return rows.length;
    });
  }
}

async function readClaimProof(
  connection: CommonQueryMethods,
  userId: string,
  sessionId: string,
  label: string,
): Promise<ClaimProof | undefined> {
  const row = await connection.maybeOne(sql.type(claimProofRow)`
    select
      c.contested_at is not null as "isContested",
      c.by_user_id <> c.claimed_user_id as "isConfirmed",
      s.owner_id = c.claimed_user_id as "isOwner",
      coalesce((
        select bool_and(g.label in (c.label, 'UU')) from segments g
        where g.session_id = s.id), true) as "isAlone"
    from speaker_claims c join sessions s on s.id = c.session_id and s.status <> 'deleted'
    where c.session_id = ${sessionId} and c.label = ${label} and c.claimed_user_id = ${userId}
      and c.revoked_at is null`);
  return row ?? undefined;
}

/** Whether the sound that a print was made of is still there, and the label's. */
function isThere(
  connection: CommonQueryMethods,
  { sessionId, label, spans }: MadeVoice,
): Promise<boolean> {
  const rows = spans.map(({ start, end }) => [start, end]);
  return connection.exists(sql.type(nothing)`
    select where not exists (
      select from ${sql.unnest(rows, ["int8", "int8"])} as used (start_sample, end_sample)
      where not exists (
        select from segments g
        where g.session_id = ${sessionId} and g.label = ${label} and not g.redacted
          and g.start_sample <= used.start_sample and g.end_sample >= used.end_sample))`);
}

/** Gives voices that were remembered of one label to the one that it is merged into. */
export async function mergeVoices(
  tx: CommonQueryMethods,
  sessionId: string,
  from: string,
  into: string,
): Promise<void> {
  await tx.query(sql.unsafe`
    update remembered_voices set label = ${into}
    where session_id = ${sessionId} and label = ${from}`);
}

/**
 * Gives the voice of a person back to a label that was merged. One that was remembered since the
 * merge was made of both, and stays.
 */
export async function unmergeVoices(
  tx: CommonQueryMethods,
  sessionId: string,
  { label, into, userId }: { label: string; into: string; userId: string },
): Promise<void> {
  await tx.query(sql.unsafe`
    update remembered_voices set label = ${label}
    where session_id = ${sessionId} and label = ${into} and user_id = ${userId}
      and remembered_at < (
        select max(at) from events
        where session_id = ${sessionId} and type = 'SpeakersRevised'
          and payload -> 'merges' @> ${JSON.stringify([{ from: label }])}::jsonb)`);
}
