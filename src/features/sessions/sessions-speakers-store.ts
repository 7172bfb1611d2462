import { type CommonQueryMethods, sql } from "slonik";
import { z } from "zod";
import { optionalColumn } from "../../postgres/optional-column.ts";
import type { SpeakerRecord } from "./sessions-directory.ts";

const speakerRow = z.object({
  label: z.string(),
  segmentCount: z.number(),
  speakingMs: z.number(),
  claimedUserId: optionalColumn(z.string()),
  displayName: optionalColumn(z.string()),
  source: optionalColumn(z.enum(["self_claim", "moderator_assignment"])),
});

/** A person's name, or the local part of the address when none was given. */
export const USER_DISPLAY_NAME = sql.fragment`coalesce(nullif(u.name, ''), split_part(u.email, '@', 1))`;

/** Labels of a session with their current claims: by number, unknown (`UU`) last. */
export async function readSpeakers(
  connection: CommonQueryMethods,
  sessionId: string,
): Promise<SpeakerRecord[]> {
  const rows = await connection.any(sql.type(speakerRow)`
    with voices as (
      select
        label,
        count(*)::int as segments,
        (sum(end_sample - start_sample) / 16)::float8 as spoken
      from segments
      where session_id = ${sessionId}
      group by label
    ),
    claims as (
      select label, claimed_user_id, source
      from speaker_claims
      where session_id = ${sessionId} and revoked_at is null
    )
    select
      label,
      coalesce(v.segments, 0) as "segmentCount",
      round(coalesce(v.spoken, 0)) as "speakingMs",
      c.claimed_user_id as "claimedUserId",
      coalesce(${USER_DISPLAY_NAME}, g.display_name) as "displayName",
      c.source
    from voices v
    full join claims c using (label)
    left join users u on u.id = c.claimed_user_id
    left join guests g on g.id = c.claimed_user_id
  `);
  return rows.toSorted((a, b) => labelNumber(a.label) - labelNumber(b.label));
}

function labelNumber(label: string): number {
  const number = /^S(\d+)$/.exec(label)?.[1];
  return number === undefined ? Number.POSITIVE_INFINITY : Number(number);
}
