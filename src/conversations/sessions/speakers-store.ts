import { type CommonQueryMethods, sql } from "slonik";
import { z } from "zod";
import { nameColumn } from "../../postgres/columns.ts";
import { optionalColumn } from "../../postgres/optional-column.ts";
import type { ClaimSource } from "../../session/status.ts";

/** One speaker of a session, with the person who claimed the label. */
export interface SpeakerRecord {
  label: string;
  segmentCount: number;
  speakingMs: number;
  claimedUserId?: string;
  /** The claimant's name, else the free one. */
  displayName?: string;
  /** What the owner or a moderator calls the label, whether somebody claimed it or not. */
  freeName?: string;
  /** True when a guest claimed the label. */
  isGuest: boolean;
  /** True when that guest was taken out of the session since. */
  isRemoved: boolean;
  source?: ClaimSource;
  /** True when somebody else has said since that the voice is theirs. */
  isContested: boolean;
  /** Since when the claimant's voice is remembered of this label, Unix milliseconds. */
  rememberedAt?: number;
}

const speakerRow = z.object({
  label: z.string(),
  segmentCount: z.number(),
  speakingMs: z.number(),
  claimedUserId: optionalColumn(z.string()),
  displayName: optionalColumn(nameColumn),
  freeName: optionalColumn(nameColumn),
  isGuest: z.boolean(),
  isRemoved: z.boolean(),
  source: optionalColumn(z.enum(["self_claim", "moderator_assignment"])),
  isContested: z.boolean(),
  rememberedAt: optionalColumn(z.number()),
});

/**
 * SQL for a table of who speaks within segments besides their own speakers: session_id, within (the
 * segment), id, label (of the segment with that voice's words, as it is now), start_sample, end_sample.
 * Without the offset PostgreSQL joins, and may compare all segments of a long session with each other.
 */
export const OVERLAPPING = sql.fragment`(
    select s.session_id, s.id as within, other.id, other.label,
      spoken.start as start_sample, spoken."end" as end_sample
    from segments s
    cross join lateral jsonb_to_recordset(s.overlapping)
      as spoken ("segmentId" uuid, start bigint, "end" bigint)
    cross join lateral (
      select id, label from segments
      where session_id = s.session_id and id = spoken."segmentId" offset 0) as other
    where other.label <> s.label and other.label <> 'UU')`;

/** SQL for a person's name, null when none was given: no part of an address stands in its place. */
export const USER_DISPLAY_NAME = sql.fragment`nullif(u.name, '')`;

/** Labels of a session with their current claims, by number; unknown (`UU`) is last. */
export async function readSpeakers(
  connection: CommonQueryMethods,
  sessionId: string,
): Promise<SpeakerRecord[]> {
  const rows = await connection.any(sql.type(speakerRow)`
    with voices as (
      select
        label,
        (count(*) filter (where not is_overlap))::int as segments,
        (sum(end_sample - start_sample) / 16)::float8 as spoken
      from (
        select label, start_sample, end_sample, false as is_overlap
        from segments
        where session_id = ${sessionId}
        union all
        select label, start_sample, end_sample, true
        from ${OVERLAPPING} as overlap
        where session_id = ${sessionId}
      ) as speech
      group by label
    ),
    claims as (
      select label, claimed_user_id, source, contested_at
      from speaker_claims
      where session_id = ${sessionId} and revoked_at is null
    ),
    names as (
      select label, display_name
      from speaker_names
      where session_id = ${sessionId} and label is not null
    )
    select
      coalesce(v.label, c.label, n.label) as label,
      coalesce(v.segments, 0) as "segmentCount",
      round(coalesce(v.spoken, 0)) as "speakingMs",
      c.claimed_user_id as "claimedUserId",
      coalesce(${USER_DISPLAY_NAME}, g.display_name, n.display_name) as "displayName",
      n.display_name as "freeName",
      u.id is null and g.id is not null as "isGuest",
      g.removed_at is not null as "isRemoved",
      c.source,
      c.contested_at is not null as "isContested",
      r.remembered_at as "rememberedAt"
    from voices v
    full join claims c using (label)
    full join names n using (label)
    left join users u on u.id = c.claimed_user_id
    left join guests g on g.id = c.claimed_user_id
    left join remembered_voices r on r.session_id = ${sessionId}
      and r.label = c.label and r.user_id = c.claimed_user_id
  `);
  return rows.toSorted((a, b) => labelNumber(a.label) - labelNumber(b.label));
}

const mergeRow = z.object({ label: z.string(), into: z.string() });

/** A label that became part of another one, which may itself have become part of a third. */
export type SpeakerMerge = z.output<typeof mergeRow>;

/** The merges of a session that stand, as far as they are known: those of earlier releases are not. */
export async function readMerges(
  connection: CommonQueryMethods,
  sessionId: string,
): Promise<readonly SpeakerMerge[]> {
  return connection.any(sql.type(mergeRow)`
    select label, into_label as into from speaker_merges
    where session_id = ${sessionId}`);
}

/** The merges that lead to `label`, in order of their labels. */
export function mergesInto(merges: readonly SpeakerMerge[], label: string): SpeakerMerge[] {
  const found: SpeakerMerge[] = [];
  // The older label survives, so that each leads to a lower number and none leads back.
  for (let open = [label]; open.length > 0; ) {
    const next = merges.filter(({ into }) => open.includes(into));
    found.push(...next);
    open = next.map((merge) => merge.label);
  }
  return found.toSorted((a, b) => labelNumber(a.label) - labelNumber(b.label));
}

function labelNumber(label: string): number {
  const number = /^S(\d+)$/.exec(label)?.[1];
  return number === undefined ? Number.POSITIVE_INFINITY : Number(number);
}
