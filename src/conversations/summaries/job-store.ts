import { type CommonQueryMethods, type DatabasePool, sql } from "slonik";
import { z } from "zod";
import { SAMPLES_PER_MS, toMilliseconds } from "../../base/audio/sample-rate.ts";
import { AppError } from "../../base/errors.ts";
import { countTokens } from "../../postgres/model-tokens.ts";
import { type OutboxRow, outboxRow, writeOutbox } from "../../postgres/outbox.ts";
import { CUSTOM_SECTIONS } from "../../session/status.ts";
import type { SummariseRequest, Summary, TextSegment } from "../../wire/gen/voice/v1/text.ts";
import { unclearIndexes } from "../../wire/unclear-words.ts";
import { completeNote, dropOldVersions, haveWorded, putBack } from "../jobs/note-jobs-store.ts";
import type { ClaimedJob } from "../jobs/queue.ts";
import { readSpeakers, type SpeakerRecord } from "../sessions/speakers-store.ts";
import { transcriptFingerprint } from "../transcript/segments-store.ts";
import { wordsColumn } from "../transcript/writing/segment-row.ts";
import { knownItems } from "./action-items-store.ts";
import { identify } from "./known-items.ts";
import { readModelShare } from "./model-work-store.ts";
import { customSections } from "./templates.ts";
import { readTemplate } from "./templates-store.ts";

/** The present words to summarise, without redacted ones. */
interface SummarySource {
  request: SummariseRequest;
  /** Fingerprint of the transcript that was read. */
  fingerprint: Buffer;
  /** Number of redactions of the session so far. */
  redactions: number;
  /** 0 where the summary is made by rule; else it is there, and a language model is asked to word it. */
  modelAttempt: number;
}

/** Silence between two words that ends a sentence, in samples: 250 ms. */
const PAUSE = 250 * SAMPLES_PER_MS;

const sourceRow = z.object({
  language: z.string(),
  summaryType: z.string(),
  fingerprint: z.instanceof(Buffer),
  redactions: z.number(),
});
const segmentRow = z.object({
  id: z.string(),
  label: z.string(),
  start: z.number(),
  end: z.number(),
  text: z.string(),
  words: wordsColumn,
});
const statusRow = z.object({ status: z.string(), redactions: z.number() });
const nothing = z.object({});

type SegmentRow = z.output<typeof segmentRow>;

/**
 * Reads the words of summarisation jobs and stores the summaries. Throws `unavailable` when storage
 * is away.
 */
export class SummaryJobStore {
  readonly #pool: DatabasePool;
  readonly #dailyTokens: number;

  /** @param dailyTokens the most that a language model may read and write a day for one tenant */
  constructor(pool: DatabasePool, dailyTokens: number) {
    this.#pool = pool;
    this.#dailyTokens = dailyTokens;
  }

  /** Reads a job's words. Throws `session_deleted`. */
  load(job: ClaimedJob): Promise<SummarySource> {
    return this.#pool.transaction(async (tx) => {
      // Words, names and fingerprint must come from one snapshot.
      await tx.query(sql.unsafe`set transaction isolation level repeatable read read only`);
      const { language, summaryType, fingerprint, redactions } = await readSource(tx, job);
      const segments = await tx.any(sql.type(segmentRow)`
        select id, label, start_sample as start, end_sample as "end", text, words
        from segments
        where session_id = ${job.sessionId} and not redacted
        order by start_sample, id`);
      const names = toNames(await readSpeakers(tx, job.sessionId));
      const { share, attempt } = await readModelShare(tx, job, this.#dailyTokens);
      const isCustom = summaryType === CUSTOM_SECTIONS;
      const request = {
        summaryType,
        language,
        segments: segments.map((segment) => toTextSegment(segment, names)),
        model: share,
        sections: isCustom ? customSections(await readTemplate(tx, job.sessionId)) : [],
      };
      return { request, fingerprint, redactions, modelAttempt: attempt };
    });
  }

  /**
   * Stores the summary, completes the job and makes the session's command due, in one transaction.
   * Throws `session_deleted`, `lease_lost` when the claim no longer holds, and `conflict` when
   * words were redacted since `load`. A summary by rule that a language model may word gets another job
   * for that, which is put back while the model is away.
   */
  store(job: ClaimedJob, source: SummarySource, summary: Summary): Promise<OutboxRow[]> {
    return this.#pool.transaction(async (tx) => {
      await lockUnchanged(tx, job, source);
      const { model } = source.request;
      if (model !== undefined && summary.model !== undefined) {
        await countTokens(tx, model.tenant, summary.model.tokens);
      }
      if (summary.model?.outcome === "away") return await this.#putBack(tx, job, source);
      const { summaryType, isAutomatic } = await completeNote(tx, job, summary.engine);
      await insertSummary(tx, job, summaryType, source, summary);
      if (summary.model?.outcome === "later") await haveWorded(tx, job);
      if (isAutomatic) await dropOldVersions(tx, job.sessionId, summaryType);
      const stored = { type: "SummaryStored", jobId: job.id, summaryType } as const;
      const completesNotes = isAutomatic && (await areNotesThere(tx, job.sessionId, source));
      const row = outboxRow(job.sessionId, completesNotes ? { ...stored, completesNotes } : stored);
      await writeOutbox(tx, row);
      return [row];
    });
  }

  /** Whoever waits for all notes is told that the others are there, before the model is asked again. */
  async #putBack(
    tx: CommonQueryMethods,
    job: ClaimedJob,
    source: SummarySource,
  ): Promise<OutboxRow[]> {
    const { summaryType, isAutomatic } = await putBack(tx, job, source.modelAttempt);
    const isFirst = source.modelAttempt === 1;
    if (!isFirst || !isAutomatic || !(await areNotesThere(tx, job.sessionId, source))) return [];
    const row = outboxRow(job.sessionId, {
      ...{ type: "SummaryStored", jobId: job.id, summaryType, completesNotes: true },
    });
    await writeOutbox(tx, row);
    return [row];
  }
}

const redactionCount = (sessionId: string) => sql.fragment`(
  select count(*)::int from events
  where session_id = ${sessionId} and type = 'SpanRedacted')`;

async function readSource(
  tx: CommonQueryMethods,
  job: ClaimedJob,
): Promise<z.output<typeof sourceRow>> {
  const source = await tx.maybeOne(sql.type(sourceRow)`
    select
      coalesce(nullif(t.forced_language, ''), s.language) as language,
      j.summary_type as "summaryType",
      ${transcriptFingerprint(sql.fragment`${job.sessionId}::uuid`)} as fingerprint,
      ${redactionCount(job.sessionId)} as redactions
    from jobs j
    join sessions s on s.id = j.session_id
    left join jobs t on t.id = s.job_id
    where j.id = ${job.id} and s.status <> 'deleted'`);
  if (source === null) throw sessionDeleted();
  return source;
}

/**
 * Locks the session's row, which deletion and redaction lock too, so that neither happens until the
 * transaction ends.
 */
async function lockUnchanged(
  tx: CommonQueryMethods,
  job: ClaimedJob,
  source: SummarySource,
): Promise<void> {
  const locked = await tx.maybeOne(sql.unsafe`
    select id from sessions where id = ${job.sessionId} for update`);
  const session = await tx.maybeOne(sql.type(statusRow)`
    select status, ${redactionCount(job.sessionId)} as redactions
    from sessions where id = ${job.sessionId}`);
  if (locked === null || session === null || session.status === "deleted") throw sessionDeleted();
  if (session.redactions !== source.redactions) {
    throw new AppError("conflict", "Words were redacted while they were being summarised.");
  }
}

/**
 * True when the session is over and none of its notes is still to be made, or to be worded for the first
 * time; those for which a language model was away are not waited for.
 */
function areNotesThere(
  tx: CommonQueryMethods,
  sessionId: string,
  { modelAttempt }: SummarySource,
): Promise<boolean> {
  return tx.exists(sql.type(nothing)`
    select from sessions s
    where s.id = ${sessionId} and s.status = 'completed' and not exists (
      select from jobs j
      where j.session_id = s.id and j.kind = 'summarisation' and j.automatic
        and j.status in ('queued', 'running') and j.model_attempt <= ${Math.max(1, modelAttempt)})`);
}

async function insertSummary(
  tx: CommonQueryMethods,
  { id, sessionId }: ClaimedJob,
  summaryType: string,
  { request, fingerprint }: SummarySource,
  { engine, text, items, model }: Summary,
): Promise<void> {
  const starts = new Map(request.segments.map((segment) => [segment.id, segment.startMs]));
  const ids =
    summaryType === "action_items" ? identify(items, await knownItems(tx, sessionId)) : [];
  const stored = items.map(({ segmentIds, ...item }, index) => ({
    id: ids[index],
    ...item,
    segment_ids: segmentIds,
    start_ms: starts.get(segmentIds[0] ?? "") ?? 0,
  }));
  const sections = summaryType === CUSTOM_SECTIONS ? JSON.stringify(request.sections) : null;
  await tx.query(sql.unsafe`
    insert into summaries
      (job_id, session_id, summary_type, engine, model, dropped_sentences, text, items, sections,
       fingerprint, version)
    select ${id}, ${sessionId}, ${summaryType}, ${engine},
      ${model?.outcome === "worded" ? model.name : null}, ${model?.dropped ?? 0}, ${text},
      ${JSON.stringify(stored)}::jsonb, ${sections}::jsonb, ${sql.binary(fingerprint)},
      1 + coalesce(max(version), 0)
    from summaries where session_id = ${sessionId} and summary_type = ${summaryType}`);
}

function toTextSegment(segment: SegmentRow, names: ReadonlyMap<string, string>): TextSegment {
  const { id, label, start, end, text, words } = segment;
  const pauses = words.flatMap((word, index) => {
    const before = words[index - 1];
    return before !== undefined && word.start - before.end >= PAUSE ? [index] : [];
  });
  return {
    id,
    speaker: names.get(label) ?? (label === "UU" ? "Unknown speaker" : label),
    startMs: toMilliseconds(start),
    endMs: toMilliseconds(end),
    text,
    pauses,
    unclear: unclearIndexes(words),
  };
}

/** Names of claimed labels; two people with the same name are distinguished by their labels. */
function toNames(speakers: readonly SpeakerRecord[]): Map<string, string> {
  const users = new Map<string, Set<string>>();
  for (const { displayName, claimedUserId } of speakers) {
    if (displayName === undefined || claimedUserId === undefined) continue;
    users.set(displayName, (users.get(displayName) ?? new Set()).add(claimedUserId));
  }
  const names = new Map<string, string>();
  for (const { label, displayName } of speakers) {
    if (displayName === undefined) continue;
    const isShared = (users.get(displayName)?.size ?? 0) > 1;
    names.set(label, isShared ? `${displayName} (${label})` : displayName);
  }
  return names;
}

function sessionDeleted(): AppError {
  return new AppError("session_deleted", "The session was deleted.");
}
