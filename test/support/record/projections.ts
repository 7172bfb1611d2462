import type { AuditEntry } from "../../../src/access/audit-entry.ts";
import type { Recorded } from "../../../src/actor/journal.ts";
import type {
  JobCompleted,
  RedoRequested,
  SegmentRevised,
  SegmentsReassigned,
  SessionEvent,
  SpanRedacted,
  SpeakerClaimed,
  SpeakersRevised,
  SpeakersUnmerged,
  TranscriptReplaced,
} from "../../../src/session/event.ts";
import { REDACTED_SPAN } from "../../../src/session/redaction.ts";
import type { Word } from "../../../src/session/write.ts";
import { type Projection, projectChunks } from "./chunk-projections.ts";
import { coverStored, insertRedaction, toMilliseconds, toReal } from "./journal-statements.ts";
import type { Conversation } from "./record-client.ts";
import type { RecordTables } from "./record-tables.ts";
import type { ClaimRow, SegmentRow } from "./rows.ts";

/** Brings the read tables up to date with a batch of events. */
export async function projectEvents(
  p: Projection,
  events: readonly Recorded<SessionEvent>[],
): Promise<void> {
  await projectChunks(p, events);
  for (const { event, at } of events) await projectEvent(p, event, toMilliseconds(at));
}

async function projectEvent(p: Projection, event: SessionEvent, at: number): Promise<void> {
  switch (event.type) {
    case "SpeakersRevised":
      return projectRevision(p, event);
    case "SegmentsReassigned":
      return relabel(p, event);
    case "SpeakersUnmerged":
      return projectUnmerge(p, event);
    case "SpeakerClaimed":
      return projectClaim(p, event);
    case "SpeakerUnclaimed": {
      const before = await revokeClaim(p, event.label);
      if (before?.source !== "self_claim" || before.claimed_user_id === event.byUserId) return;
      const detail = { label: event.label, revoked: true };
      return recordOverride(p, before, event.byUserId, detail);
    }
    case "SessionStopped":
    case "SessionCompleted":
    case "SessionFailed":
      return projectPhase(p, event, at);
    case "TranscriptReplaced":
      return projectReplacement(p, event);
    case "SegmentRevised":
      return projectEdit(p, event);
    case "SpanRedacted":
      return projectRedaction(p, event);
    default:
      return projectJob(p, event, at);
  }
}

async function projectPhase({ tx, t, id }: Projection, event: SessionEvent, at: number) {
  await tx.run((s) => {
    if (event.type === "SessionStopped") {
      return s.update(
        t.sessions,
        id,
        (row) => ({
          status: "processing" as const,
          stopped_at: row.stopped_at ?? at,
          last_chunk_sequence: row.last_chunk_sequence ?? event.lastSequence,
        }),
        ({ status }) => status === "recording" || status === "processing",
      );
    }
    const isFailed = event.type === "SessionFailed";
    const failure_reason = (isFailed ? event.reason : undefined) ?? null;
    const status = isFailed ? "failed" : "completed";
    return s.update(
      t.sessions,
      id,
      () => ({ status, completed_at: at, failure_reason }) as const,
      (row) => row.status !== "deleted",
    );
  });
}

async function projectJob(p: Projection, event: SessionEvent, at: number): Promise<void> {
  const { tx, t } = p;
  switch (event.type) {
    case "JobFailed": {
      const end = { status: "failed", progress: 1, error: event.message } as const;
      await tx.run((s) =>
        s.update(t.jobs, event.jobId, () => ({ ...end, completed_at: at }), isWanted),
      );
      return;
    }
    case "JobStarted":
      await tx.run((s) =>
        s.update(
          t.jobs,
          event.jobId,
          ({ started_at }) => ({
            status: "running" as const,
            attempt: event.attempt,
            engine: event.engine,
            detected_language: event.detectedLanguage,
            diarisation_model_version: event.diarisationModelVersion,
            started_at: started_at ?? at,
          }),
          isOpen,
        ),
      );
      return;
    case "JobCompleted":
      return projectJobCompleted(p, event, at);
    case "RedoRequested":
      return projectRedo(p, event);
    case "RedoCancelled":
      await tx.run((s) =>
        s.update(
          t.jobs,
          event.jobId,
          () => ({ status: "cancelled" as const, progress: 0, completed_at: at }),
          isOpen,
        ),
      );
      return;
    default:
      return;
  }
}

function isOpen({ status }: { status: string }): boolean {
  return status === "queued" || status === "running";
}

function isWanted({ status }: { status: string }): boolean {
  return status !== "cancelled";
}

async function projectRedo(p: Projection, event: RedoRequested): Promise<void> {
  const { jobId, attempt, byUserId } = event;
  await p.tx.run((s) =>
    s.update(p.t.jobs, jobId, () => ({
      status: "queued" as const,
      attempt,
      progress: 0,
      error: "",
      started_at: null,
      completed_at: null,
    })),
  );
  await insertAudit(p.tx, p.t, p.newId(), {
    kind: "transcription_redone",
    actor: { kind: "user", id: byUserId },
    sessionId: p.id,
    subjectId: jobId,
    detail: { attempt },
  });
}

async function projectJobCompleted(p: Projection, event: JobCompleted, at: number) {
  const end = { status: "completed", progress: 1, error: "", completed_at: at } as const;
  await p.tx.run((s) =>
    s.update(p.t.jobs, event.jobId, () => ({ ...end, duration_ms: event.durationMs }), isWanted),
  );
  await recount(p, event.jobId);
}

/** Counts and the mean confidence, weighted by words, from the segments that stand. */
async function recount({ tx, t, id }: Projection, jobId: string): Promise<void> {
  await tx.run((s) => {
    const segments = s.all(t.segments, id);
    const labels = new Set(segments.map(({ label }) => label).filter((label) => label !== "UU"));
    const lengths = segments.map((row) => wordsOf(row).length);
    const words = lengths.reduce((sum, length) => sum + length, 0);
    const weighted = segments.reduce(
      (sum, { confidence }, index) => sum + Math.fround(confidence) * (lengths[index] ?? 0),
      0,
    );
    return s.update(t.jobs, jobId, () => ({
      segment_count: segments.length,
      speaker_count: labels.size,
      avg_confidence: words === 0 ? null : toReal(weighted / words),
    }));
  });
}

export function wordsOf({ words }: Pick<SegmentRow, "words">): Word[] {
  return JSON.parse(words) as Word[];
}

async function projectReplacement(p: Projection, event: TranscriptReplaced): Promise<void> {
  const { tx, t, id } = p;
  const added = new Set(event.added.map(({ segmentId }) => segmentId));
  const removed = event.removed.filter(({ segmentId }) => !added.has(segmentId));
  await tx.run(async (s) => {
    for (const { segmentId } of removed) await s.remove(t.segments, `${id}:${segmentId}`);
  });
  await tx.run(async (s) => {
    if (s.get(t.jobs, event.jobId)?.status !== "completed") return;
    const length = Math.round(event.to / 16);
    await s.update(t.jobs, event.jobId, (job) => ({
      duration_ms: Math.max(job.duration_ms ?? 0, length),
    }));
  });
  await recount(p, event.jobId);
}

async function projectEdit({ tx, t, id }: Projection, event: SegmentRevised): Promise<void> {
  const { segmentId, label, revision, editId } = event;
  await tx.run((s) =>
    s.update(t.segments, `${id}:${segmentId}`, (row) => ({
      label,
      revision,
      speaker_confidence: row.label === label ? row.speaker_confidence : null,
    })),
  );
  if (editId === undefined) return;
  await tx.run(async (s) => {
    const edit = s.get(t.edits, editId);
    if (edit === undefined) return;
    const { text, words } = edit;
    await s.update(t.segments, `${id}:${segmentId}`, () => ({ text, words }));
  });
  await tx.run((s) => s.remove(t.edits, editId));
}

async function projectRevision(p: Projection, event: SpeakersRevised): Promise<void> {
  const { tx, t, id } = p;
  for (const { from, into } of event.merges) {
    await tx.run((s) =>
      s.updateAll(
        t.segments,
        id,
        ({ label }) => label === from || label === into,
        () => ({ label: into, speaker_confidence: null }),
      ),
    );
    await mergeClaims(p, from, into);
  }
  if (event.revisions.length === 0) return;
  await tx.run(async (s) => {
    for (const { segmentId, label } of event.revisions) {
      await s.update(t.segments, `${id}:${segmentId}`, () => ({ label, speaker_confidence: null }));
    }
  });
}

async function relabel(
  { tx, t, id }: Projection,
  { segments, label }: Pick<SegmentsReassigned, "segments" | "label">,
): Promise<void> {
  await tx.run(async (s) => {
    for (const { segmentId } of segments) {
      await s.update(t.segments, `${id}:${segmentId}`, () => ({ label, speaker_confidence: null }));
    }
  });
}

/** The claim that the remaining label took over moves back. */
async function projectUnmerge(p: Projection, event: SpeakersUnmerged): Promise<void> {
  await relabel(p, event);
  const { label, into, claimedUserId } = event;
  if (claimedUserId === undefined) return;
  await p.tx.run((s) =>
    s.updateAll(
      p.t.claims,
      p.id,
      (row) =>
        row.label === into && row.revoked_at === null && row.claimed_user_id === claimedUserId,
      () => ({ label }),
    ),
  );
}

/** A claim on the merged label follows to the one that stands, unless that has its own. */
async function mergeClaims(p: Projection, from: string, into: string): Promise<void> {
  const { tx, t, id } = p;
  await tx.run(async (s) => {
    if (s.all(t.claims, id).some((row) => row.label === into && row.revoked_at === null)) return;
    await s.updateAll(
      t.claims,
      id,
      (row) => row.label === from && row.revoked_at === null,
      () => ({ label: into }),
    );
  });
  await revokeClaim(p, from);
}

async function projectClaim(p: Projection, event: SpeakerClaimed): Promise<void> {
  const { tx, t, id } = p;
  const { label, source, claimedUserId, byUserId } = event;
  const before = await revokeClaim(p, label);
  const claim = { session_id: id, label, source, claimed_user_id: claimedUserId };
  await tx.run((s) =>
    s.insertNew(t.claims, {
      ...claim,
      id: t.nextClaim(),
      by_user_id: byUserId,
      revoked_at: null,
    }),
  );
  if (before?.source !== "self_claim" || before.claimed_user_id === claimedUserId) return;
  await recordOverride(p, before, byUserId, { label, assigned_user_id: claimedUserId });
}

async function revokeClaim({ tx, t, id }: Projection, label: string) {
  return tx.run(async (s): Promise<ClaimRow | undefined> => {
    const stands = (row: ClaimRow) => row.label === label && row.revoked_at === null;
    const claim = s.all(t.claims, id).find(stands);
    if (claim === undefined) return undefined;
    return s.update(t.claims, t.claims.keyOf(claim), () => ({ revoked_at: s.now }), stands);
  });
}

function recordOverride(
  { tx, t, id, newId }: Projection,
  before: ClaimRow,
  byUserId: string,
  detail: Record<string, string | boolean>,
): Promise<void> {
  return insertAudit(tx, t, newId(), {
    kind: "speaker_claim_overridden",
    actor: { kind: "user", id: byUserId },
    sessionId: id,
    subjectId: before.claimed_user_id,
    detail,
  });
}

async function projectRedaction(p: Projection, event: SpanRedacted): Promise<void> {
  const { tx, t, id, newId } = p;
  const { redactionId, from, to, label, segmentIds, byUserId } = event;
  await tx.run(async (s) => {
    const gone = { text: REDACTED_SPAN, words: "[]", redacted: true };
    for (const segmentId of segmentIds) {
      await s.update(t.segments, `${id}:${segmentId}`, () => gone);
    }
  });
  await tx.run((s) =>
    s.removeAll(t.edits, id, ({ segment_id }) => segmentIds.includes(segment_id)),
  );
  if (label === undefined) {
    await tx.run((s) =>
      insertRedaction(s, t, {
        id: redactionId,
        session_id: id,
        start_sample: from,
        end_sample: to,
        label: null,
        created_at: s.now,
      }),
    );
  }
  await coverStored(tx, t, id, segmentIds);
  await insertAudit(tx, t, newId(), {
    kind: label === undefined ? "span_redacted" : "speaker_redacted",
    actor: { kind: "user", id: byUserId },
    sessionId: id,
    subjectId: redactionId,
    detail: { from_ms: from / 16, to_ms: to / 16, segments: segmentIds.length },
  });
}

/** Until its transaction ends nobody else writes an entry. */
export async function insertAudit(
  tx: Conversation,
  t: RecordTables,
  id: string,
  { kind, actor, workspaceId, sessionId, subjectId, detail }: AuditEntry,
): Promise<void> {
  await tx.run(async (s) => {
    await s.advisory("audit");
    await s.insert(t.audit, {
      id,
      kind,
      actor_kind: actor.kind,
      actor_id: actor.id ?? null,
      workspace_id: workspaceId ?? null,
      session_id: sessionId ?? null,
      subject_id: subjectId ?? null,
      detail: JSON.stringify(detail ?? {}),
    });
  });
}
