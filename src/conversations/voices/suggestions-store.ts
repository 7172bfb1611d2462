import { type CommonQueryMethods, type DatabasePool, sql } from "slonik";
import { z } from "zod";
import { nameColumn } from "../../postgres/columns.ts";
import { optionalColumn } from "../../postgres/optional-column.ts";
import { USER_DISPLAY_NAME } from "../sessions/speakers-store.ts";

/** Most remembered voices of a workspace that are compared: the newest ones. */
const MOST_VOICES = 200;
/** Most labels of a session that are compared: those who spoke the most. */
const MOST_LABELS = 12;

const voiceRow = z.object({
  id: z.string(),
  userId: z.string(),
  encrypted: z.instanceof(Buffer),
});
const labelRow = z.object({
  label: z.string(),
  samples: z.number(),
  heard: z.instanceof(Buffer),
  comparedSamples: optionalColumn(z.number()),
  comparedHeard: optionalColumn(z.instanceof(Buffer)),
  comparedVoices: optionalColumn(z.instanceof(Buffer)),
});
const suggestionRow = z.object({
  label: z.string(),
  userId: z.string(),
  displayName: optionalColumn(nameColumn),
  likelihood: z.number(),
});

/** A remembered voice to compare with. */
export type KnownVoice = z.output<typeof voiceRow>;
/** An unclaimed label's speech, and what of it was compared before. */
export type HeardLabel = z.output<typeof labelRow>;
type SuggestionRecord = z.output<typeof suggestionRow>;

/** What one comparison gave. */
interface Comparison {
  sessionId: string;
  label: string;
  samples: number;
  heard: Buffer;
  voices: Buffer;
  suggested: { voiceId: string; likelihood: number }[];
}

/** Whom labels sound like. Throws `unavailable` when storage is away. */
export class SuggestionStore {
  readonly #pool: DatabasePool;

  constructor(pool: DatabasePool) {
    this.#pool = pool;
  }

  /** Ids of the newest remembered voices of the workspace's enabled members. */
  async voiceIds(workspaceId: string): Promise<string[]> {
    const rows = await this.#pool.any(sql.type(z.object({ id: z.string() }))`
      select v.id
      from remembered_voices v join users u on u.id = v.user_id and u.disabled_at is null
      where v.workspace_id = ${workspaceId}
      order by v.remembered_at desc, v.id
      limit ${MOST_VOICES}`);
    return rows.map(({ id }) => id);
  }

  /** Those of the remembered voices that are still there. */
  async voices(ids: readonly string[]): Promise<KnownVoice[]> {
    const rows = await this.#pool.any(sql.type(voiceRow)`
      select id, user_id as "userId", sealed as encrypted from remembered_voices
      where id = any(${sql.array([...ids], "uuid")})`);
    return [...rows];
  }

  /** The unclaimed labels with at least so many samples of speech, most speech first. */
  async labels(sessionId: string, leastSamples: number): Promise<HeardLabel[]> {
    const rows = await this.#pool.any(sql.type(labelRow)`
      with heard as (
        select label, sum(end_sample - start_sample) as samples,
          sha256(convert_to(string_agg(
            id::text || start_sample || '-' || end_sample, ',' order by start_sample, id), 'UTF8')
          ) as heard
        from segments g
        where session_id = ${sessionId} and not redacted and label <> 'UU' and not exists (
          select from speaker_claims c
          where c.session_id = g.session_id and c.label = g.label and c.revoked_at is null)
        group by label
      )
      select h.label, h.samples::float8 as samples, h.heard,
        c.heard_samples::float8 as "comparedSamples", c.heard as "comparedHeard",
        c.voices as "comparedVoices"
      from heard h
      left join voice_comparisons c on c.session_id = ${sessionId} and c.label = h.label
      where h.samples >= ${leastSamples}
      order by h.samples desc, h.label
      limit ${MOST_LABELS}`);
    return [...rows];
  }

  /**
   * Keeps what a comparison gave in place of the one before. Voices that were forgotten meanwhile are
   * left out, and of a deleted session nothing is kept.
   */
  keep({ sessionId, label, samples, heard, voices, suggested }: Comparison): Promise<void> {
    const rows = suggested.map(({ voiceId, likelihood }) => [voiceId, likelihood]);
    return this.#pool.transaction(async (tx) => {
      const session = await tx.maybeOne(sql.unsafe`
        select id from sessions where id = ${sessionId} and status <> 'deleted' for share`);
      if (session === null) return;
      await tx.query(sql.unsafe`
        delete from voice_suggestions where session_id = ${sessionId} and label = ${label}`);
      await tx.query(sql.unsafe`
        insert into voice_suggestions (session_id, label, voice_id, likelihood)
        select ${sessionId}, ${label}, v.id, s.likelihood
        from ${sql.unnest(rows, ["uuid", "float4"])} as s (id, likelihood)
        join remembered_voices v on v.id = s.id
        for key share of v`);
      await tx.query(sql.unsafe`
        insert into voice_comparisons (session_id, label, heard_samples, heard, voices)
        values (${sessionId}, ${label}, ${samples}, ${sql.binary(heard)}, ${sql.binary(voices)})
        on conflict (session_id, label) do update
        set heard_samples = excluded.heard_samples, heard = excluded.heard,
            voices = excluded.voices`);
    });
  }

  /**
   * Suggestions for unclaimed labels, likeliest first: of everybody, or of one person. Whoever claimed
   * a label of the session is suggested for no other, and whoever is disabled for none.
   */
  async read(sessionId: string, ofUser: string | undefined): Promise<SuggestionRecord[]> {
    const who = ofUser === undefined ? sql.fragment`true` : sql.fragment`v.user_id = ${ofUser}`;
    const rows = await this.#pool.any(sql.type(suggestionRow)`
      select s.label, v.user_id as "userId", ${USER_DISPLAY_NAME} as "displayName",
        s.likelihood::float8 as likelihood
      from voice_suggestions s
      join sessions on sessions.id = s.session_id and sessions.status <> 'deleted'
      join remembered_voices v on v.id = s.voice_id and v.workspace_id = sessions.workspace_id
      join users u on u.id = v.user_id and u.disabled_at is null
      where s.session_id = ${sessionId} and ${who} and not exists (
        select from speaker_claims c
        where c.session_id = s.session_id and c.revoked_at is null
          and (c.label = s.label or c.claimed_user_id = v.user_id))
      order by s.label, s.likelihood desc, v.user_id`);
    return [...rows];
  }
}

/** For whoever deletes a session. */
export async function eraseSuggestions(
  tx: CommonQueryMethods,
  { id }: { id: string },
): Promise<void> {
  await tx.query(sql.unsafe`delete from voice_suggestions where session_id = ${id}`);
  await tx.query(sql.unsafe`delete from voice_comparisons where session_id = ${id}`);
}

/** Ends the suggestions for a label; resolves to whom they had suggested. */
export function endSuggestions(
  tx: CommonQueryMethods,
  sessionId: string,
  label: string,
): Promise<readonly { userId: string; likelihood: number }[]> {
  return tx.any(sql.type(z.object({ userId: z.string(), likelihood: z.number() }))`
    with ended as (
      delete from voice_suggestions
      where session_id = ${sessionId} and label = ${label}
      returning voice_id, likelihood
    )
    select v.user_id as "userId", ended.likelihood::float8 as likelihood
    from ended join remembered_voices v on v.id = ended.voice_id`);
}
