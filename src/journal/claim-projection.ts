import { type DatabasePool, type DatabaseTransactionConnection, sql } from "slonik";
import { z } from "zod";
import { insertAuditEntry } from "../access/audit-entries-store.ts";
import { forgetContested, forgetDisowned } from "../conversations/voices/forgotten-voices-store.ts";
import { endSuggestions } from "../conversations/voices/suggestions-store.ts";
import type { SpeakerClaimed, SpeakerUnclaimed } from "../session/event.ts";

const claimRow = z.object({ source: z.string(), claimedUserId: z.string() });

type Claim = z.output<typeof claimRow>;

/** Stores a claim. An assignment that replaces another person's own claim gets an audit entry. */
export async function projectClaim(
  tx: DatabaseTransactionConnection,
  sessionId: string,
  event: SpeakerClaimed,
): Promise<void> {
  const { label, source, claimedUserId, byUserId } = event;
  const before = await revokeClaim(tx, sessionId, label);
  await tx.query(sql.unsafe`
    insert into speaker_claims (session_id, label, source, claimed_user_id, by_user_id)
    values (${sessionId}, ${label}, ${source}, ${claimedUserId}, ${byUserId})`);
  await forgetDisowned(tx, sessionId, byUserId);
  await acceptSuggestion(tx, sessionId, event);
  if (before?.source !== "self_claim" || before.claimedUserId === claimedUserId) return;
  await recordOverride(tx, sessionId, before, {
    byUserId,
    detail: { label, assigned_user_id: claimedUserId },
  });
}

/** Ends a claim; gets an audit entry when somebody other than its claimant ended it. */
export async function projectUnclaim(
  tx: DatabaseTransactionConnection,
  sessionId: string,
  { label, byUserId }: SpeakerUnclaimed,
): Promise<void> {
  const before = await revokeClaim(tx, sessionId, label);
  await forgetDisowned(tx, sessionId, byUserId);
  if (before?.source !== "self_claim" || before.claimedUserId === byUserId) return;
  await recordOverride(tx, sessionId, before, { byUserId, detail: { label, revoked: true } });
}

/** Ends the label's suggestions; gets an audit entry when the claim follows one of them. */
async function acceptSuggestion(
  tx: DatabaseTransactionConnection,
  sessionId: string,
  { label, claimedUserId, byUserId }: SpeakerClaimed,
): Promise<void> {
  const ended = await endSuggestions(tx, sessionId, label);
  const accepted = ended.find(({ userId }) => userId === claimedUserId);
  if (accepted === undefined) return;
  await insertAuditEntry(tx, {
    kind: "voice_suggestion_accepted",
    actor: { kind: "user", id: byUserId },
    sessionId,
    subjectId: claimedUserId,
    detail: { label, likelihood: accepted.likelihood },
  });
}

/** Ends the claim on a label, and returns it. */
export async function revokeClaim(
  tx: DatabaseTransactionConnection,
  sessionId: string,
  label: string,
): Promise<Claim | undefined> {
  const revoked = await tx.maybeOne(sql.type(claimRow)`
    update speaker_claims set revoked_at = now()
    where session_id = ${sessionId} and label = ${label} and revoked_at is null
    returning source, claimed_user_id as "claimedUserId"`);
  return revoked ?? undefined;
}

/** Writes the audit entry of an overridden claim; its subject is the former claimant. */
function recordOverride(
  tx: DatabaseTransactionConnection,
  sessionId: string,
  { claimedUserId }: Claim,
  by: { byUserId: string; detail: Record<string, string | boolean> },
): Promise<void> {
  return insertAuditEntry(tx, {
    kind: "speaker_claim_overridden",
    actor: { kind: "user", id: by.byUserId },
    sessionId,
    subjectId: claimedUserId,
    detail: by.detail,
  });
}

/**
 * Marks the claim on a label that is somebody else's as contested, and forgets the voice that was
 * remembered by it. The mark ends with the claim.
 */
export function contestClaim(
  pool: DatabasePool,
  sessionId: string,
  label: string,
  byUserId: string,
): Promise<void> {
  return pool.transaction(async (tx) => {
    // Voices are remembered, and claims change, under this lock.
    await tx.query(sql.unsafe`select from sessions where id = ${sessionId} for update`);
    await tx.query(sql.unsafe`
      update speaker_claims set contested_at = coalesce(contested_at, now())
      where session_id = ${sessionId} and label = ${label} and revoked_at is null
        and claimed_user_id <> ${byUserId}`);
    await forgetContested(tx, sessionId, label, byUserId);
  });
}
