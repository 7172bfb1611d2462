import { type CommonQueryMethods, type DatabasePool, sql } from "slonik";
import { z } from "zod";
import { insertAuditEntry } from "../../access/audit-entries-store.ts";
import { newId } from "../../base/ids.ts";
import { allOf } from "../../postgres/columns.ts";

const voiceRow = z.object({
  workspaceId: z.string(),
  sessionId: z.string(),
  label: z.string(),
  method: z.string(),
  sealed: z.instanceof(Buffer),
  speechMs: z.number(),
  rememberedAt: z.number(),
});

/** A remembered voice; its print is encrypted. */
export type RememberedVoice = z.output<typeof voiceRow>;

const lapsedRow = z.object({ workspaceId: z.string(), lapsedAt: z.number() });

type LapsedVoice = z.output<typeof lapsedRow>;

const COLUMNS = sql.fragment`
  workspace_id as "workspaceId", session_id as "sessionId", label, method, sealed,
  speech_ms as "speechMs", remembered_at as "rememberedAt"`;

const nothing = z.object({}).strict();

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

  /** Whether the person's claim on the label is in force. */
  hasClaimed(userId: string, sessionId: string, label: string): Promise<boolean> {
    return hasClaimed(this.#pool, userId, sessionId, label);
  }

  /**
   * Remembers a voice in place of the one before, with its audit entry. Undefined, and nothing is
   * kept, when meanwhile the session was deleted, the claim taken back or the workspace left.
   */
  put(
    userId: string,
    voice: Omit<RememberedVoice, "rememberedAt">,
  ): Promise<RememberedVoice | undefined> {
    const { workspaceId, sessionId, label, method, sealed, speechMs } = voice;
    return this.#pool.transaction(async (tx) => {
      // Claims change and sessions are deleted under this lock.
      const session = await tx.maybeOne(sql.type(nothing)`
        select from sessions where id = ${sessionId} and status <> 'deleted' for share`);
      const member = await tx.maybeOne(sql.type(nothing)`
        select from workspace_members
        where workspace_id = ${workspaceId} and user_id = ${userId} for key share`);
      if (session === null || member === null) return undefined;
      if (!(await hasClaimed(tx, userId, sessionId, label))) return undefined;
      // Suggestions of the voice before go with it.
      await tx.query(sql.unsafe`
        delete from remembered_voices
        where workspace_id = ${workspaceId} and user_id = ${userId}`);
      await tx.query(sql.unsafe`
        delete from lapsed_voices
        where workspace_id = ${workspaceId} and user_id = ${userId}`);
      const row = await tx.one(sql.type(voiceRow)`
        insert into remembered_voices
          (workspace_id, user_id, id, session_id, label, method, sealed, speech_ms)
        values (${workspaceId}, ${userId}, ${newId()}, ${sessionId}, ${label}, ${method},
          ${sql.binary(sealed)}, ${speechMs})
        returning ${COLUMNS}`);
      await insertAuditEntry(tx, {
        kind: "voice_remembered",
        actor: { kind: "user", id: userId },
        workspaceId,
        sessionId,
        subjectId: userId,
        detail: { label, method, speech_ms: speechMs, consent: true },
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

function hasClaimed(
  connection: CommonQueryMethods,
  userId: string,
  sessionId: string,
  label: string,
): Promise<boolean> {
  return connection.exists(sql.type(nothing)`
    select from speaker_claims
    where session_id = ${sessionId} and label = ${label} and claimed_user_id = ${userId}
      and revoked_at is null`);
}
