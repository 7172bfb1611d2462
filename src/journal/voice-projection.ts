import { type DatabaseTransactionConnection, sql } from "slonik";
import { mergeNames } from "../conversations/transcript/speaker-names-store.ts";
import { forgetDisowned } from "../conversations/voices/forgotten-voices-store.ts";
import { mergeVoices, unmergeVoices } from "../conversations/voices/remembered-voices-store.ts";
import type { Change } from "../postgres/append-work.ts";
import type { SpeakersRevised, SpeakersUnmerged } from "../session/event.ts";
import { mergeCandidate, unmergeCandidate } from "./candidate-projection.ts";
import { revokeClaim } from "./claim-projection.ts";

/**
 * Makes two labels one in the read tables.
 *
 * @param keepsWay true when the merge can be taken back
 */
export async function projectMerge(
  tx: DatabaseTransactionConnection,
  sessionId: string,
  { from, into }: SpeakersRevised["merges"][number],
  keepsWay: boolean,
): Promise<void> {
  await tx.query(sql.unsafe`
    update segments set label = ${into}, speaker_confidence = null
    where session_id = ${sessionId} and (
      label = ${from} or (label = ${into} and speaker_confidence is not null))`);
  await tx.query(sql.unsafe`
    insert into speaker_merges (session_id, label, into_label)
    values (${sessionId}, ${from}, ${into})
    on conflict (session_id, label) do update set into_label = excluded.into_label`);
  await mergeClaims(tx, sessionId, from, into);
  await mergeNames(tx, sessionId, { from, into }, keepsWay);
  await mergeCandidate(tx, sessionId, from, into);
}

/**
 * Makes a merged label one of its own again. The claim that the other label took over moves back; the
 * events of the claim and the free name, which follow, do the rest.
 */
export async function projectUnmerge(
  tx: DatabaseTransactionConnection,
  sessionId: string,
  event: SpeakersUnmerged,
): Promise<void> {
  const { label, into, segments, candidateIds = [], claimedUserId, byUserId } = event;
  const change = relabel(sessionId, segments, label);
  await tx.query(sql.unsafe`${change.sql(sql.fragment`true`)}`);
  await tx.query(sql.unsafe`
    delete from speaker_merges where session_id = ${sessionId} and label = ${label}`);
  await unmergeCandidate(tx, sessionId, candidateIds, label);
  if (claimedUserId === undefined) return;
  await tx.query(sql.unsafe`
    update speaker_claims set label = ${label}
    where session_id = ${sessionId} and label = ${into} and revoked_at is null
      and claimed_user_id = ${claimedUserId}`);
  // What was remembered since the merge was made of both, and is forgotten with the claim.
  await unmergeVoices(tx, sessionId, { label, into, userId: claimedUserId });
  await forgetDisowned(tx, sessionId, byUserId);
}

/** Gives segments to a label by a person's wish: how likely the voice is the label's nobody tells then. */
export function relabel(
  sessionId: string,
  segments: readonly { segmentId: string }[],
  label: string,
): Change {
  const ids = sql.array(
    segments.map(({ segmentId }) => segmentId),
    "uuid",
  );
  return {
    writes: ["segments"],
    sql: (when) => sql.fragment`
      update segments set label = ${label}, speaker_confidence = null
      where session_id = ${sessionId} and id = any(${ids}) and ${when}`,
  };
}

/** Moves a claim on the merged label to the remaining label, unless that has a claim. */
async function mergeClaims(
  tx: DatabaseTransactionConnection,
  sessionId: string,
  from: string,
  into: string,
): Promise<void> {
  await tx.query(sql.unsafe`
    update speaker_claims set label = ${into}
    where session_id = ${sessionId} and label = ${from} and revoked_at is null
      and not exists (
        select from speaker_claims
        where session_id = ${sessionId} and label = ${into} and revoked_at is null)`);
  await revokeClaim(tx, sessionId, from);
  await mergeVoices(tx, sessionId, from, into);
  await forgetDisowned(tx, sessionId);
}
