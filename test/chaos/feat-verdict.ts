import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import type { UserSession } from "../../src/cli/client/user-session.ts";
import { ApiError } from "../../src/client/errors.ts";
import { until } from "../support/until.ts";
import type { Case } from "./case.ts";
import { compareWords, plainWord, type Segment, wordsOf } from "./outcome.ts";
import type { Feat } from "./people.ts";
import type { Record } from "./record.ts";

const REDACTED = "[redacted-";
const ERASED_MS = 60_000;
const SAMPLES_PER_MS = 16;
const WAVE_HEADER = 44;
/** Words this near to the end of a span may be heard beyond it in another reading. */
const MARGIN_MS = 100;
/**
 * Where silence cuts into speech, other words may be heard: the one that is cut, and the one beside
 * it, as a recogniser tells words by their neighbours.
 */
const WORDS_AT_AN_END = 2;
/** Utterances so far from a redaction are heard as if there were none. */
const FAR_MS = 3_000;

type Of<D extends Feat["deed"]> = Extract<Feat, { deed: D }>;

/** Ways in which what a person was told is done does not stand. */
export async function judgeFeat(
  feat: Feat,
  file: Case,
  record: Record,
  user: UserSession,
): Promise<string[]> {
  switch (feat.deed) {
    case "edit":
      return judgeEdit(feat, file);
    case "claim":
      return judgeClaim(feat, file, user);
    case "merge":
      return judgeMerge(feat, file);
    case "redact":
      return judgeRedaction(feat, file, record, user);
    case "redo":
      // Its end is part of what the session is waited for.
      return countOf(file, "RedoRequested") > 0 ? [] : ["a redo was accepted and is not on record"];
    case "delete":
      return judgeDeletion(file, record, user);
    case "summarise":
      return once(file, "SummaryUpdated", "jobId", feat.jobId);
    case "raise":
      return [
        ...once(file, "ConcernRaised", "concernId", feat.concernId),
        ...(countOf(file, "ConcernRaised") === 1 ? [] : ["a concern sent twice was raised twice"]),
      ];
  }
}

function countOf({ events }: Case, type: string): number {
  return events.filter(({ payload }) => payload.type === type).length;
}

function once({ events }: Case, type: string, key: string, value: string): string[] {
  const times = events.filter(({ payload }) => {
    const fields: { [name: string]: unknown } = { ...payload };
    return payload.type === type && fields[key] === value;
  }).length;
  return times === 1 ? [] : [`${type} of ${value} stands ${times} times`];
}

function judgeEdit({ text }: Of<"edit">, { found, recording }: Case): string[] {
  const standing = found.listed.filter((segment) => segment.text === text).length;
  const drafts = found.listed.filter((segment) => segment.text === `draft ${recording.canary}`);
  return [
    ...(standing === 1 ? [] : [`a correction stands ${standing} times`]),
    ...(drafts.length === 0 ? [] : ["an older correction stands beside or over the newer one"]),
  ];
}

async function judgeClaim(
  { label }: Of<"claim">,
  { recording }: Case,
  user: UserSession,
): Promise<string[]> {
  const params = { path: { session_id: recording.sessionId } };
  const { items } = await user.call((client) =>
    client.GET("/sessions/{session_id}/speakers", { params }),
  );
  const isClaimed = items.some(
    ({ speaker_label, claimed_user_id }) => speaker_label === label && claimed_user_id,
  );
  return isClaimed ? [] : [`the claim of ${label} is gone`];
}

function judgeMerge({ from, into }: Of<"merge">, { found, calm }: Case): string[] {
  const left = found.listed.filter(({ speaker_label }) => speaker_label === from).length;
  const has = found.listed.some(({ speaker_label }) => speaker_label === into);
  return [
    ...(left === 0 ? [] : [`${left} segments have the label ${from}, which was merged`]),
    ...(has || calm.listed.length === 0 ? [] : [`no segment has the label ${into}`]),
  ];
}

/** Silent and wordless within, as it was without. */
async function judgeRedaction(
  { startMs, endMs }: Of<"redact">,
  { found, calm, recording, seamWords }: Case,
  record: Record,
  user: UserSession,
): Promise<string[]> {
  const { sessionId } = recording;
  const touches = ({ start_ms, end_ms }: Segment) => start_ms < endMs && end_ms > startMs;
  const isBlank = ({ text }: Segment) => text.startsWith(REDACTED);
  const problems = found.listed
    .filter((segment) => touches(segment) && !isBlank(segment))
    .map(({ text }) => `redacted, but there: "${text}"`);
  const taken = distinctiveWords(calm.listed, startMs, endMs);
  const tables = await record.tablesWith(taken, sessionId);
  if (tables.length > 0) problems.push(`words that were redacted stand in ${tables.join(", ")}`);
  // What was redacted before it was read was silence then: of an utterance that only touches the
  // span, the words beyond it may stand.
  const kept = wordsOf(found.listed.filter((segment) => !isBlank(segment)));
  const mayDiffer = seamWords + WORDS_AT_AN_END * 2;
  const { missing } = compareWords(
    kept,
    wordsOf(calm.listed.filter((segment) => !touches(segment))),
  );
  const { extra } = compareWords(kept, wordsBeyond(calm.listed, startMs, endMs));
  if (missing.length > mayDiffer || extra.length > mayDiffer) {
    problems.push(
      `words beside the redaction of ${startMs}-${endMs}: "${missing.join(" ")}" missing, "${extra.join(" ")}" too many; ${mayDiffer} may differ; now ${placesOf(found.listed)}; undisturbed ${placesOf(calm.listed)}`,
    );
  }
  const isFar = ({ start_ms, end_ms }: Segment) =>
    end_ms <= startMs - FAR_MS || start_ms >= endMs + FAR_MS;
  const far = compareWords(kept, wordsOf(calm.listed.filter(isFar))).missing;
  if (far.length > seamWords) {
    problems.push(`words far from the redaction of ${startMs}-${endMs} lost: "${far.join(" ")}"`);
  }
  problems.push(...(await judgeSound(sessionId, startMs, endMs, record, user)));
  return problems;
}

function placesOf(listed: readonly Segment[]): string {
  return listed
    .map(({ start_ms, end_ms, text }) => `${start_ms}-${end_ms} ${text.slice(0, 24)}`)
    .join(", ");
}

/** Said in the conversation, and the name of a state in many tables. */
const STATES: ReadonlySet<string> = new Set(["completed"]);

/** Long words that lie wholly in the span and are said nowhere else: whatever holds one leaks. */
function distinctiveWords(listed: readonly Segment[], startMs: number, endMs: number): string[] {
  const spoken = listed
    .flatMap(({ words = [] }) => words)
    .map((each) => ({ ...each, word: plainWord(each.word) }));
  const isWithin = ({ start_ms, end_ms }: (typeof spoken)[number]) =>
    start_ms >= startMs + MARGIN_MS && end_ms <= endMs - MARGIN_MS;
  const others = new Set(spoken.filter((each) => !isWithin(each)).map(({ word }) => word));
  const within = spoken.filter(isWithin).map(({ word }) => word);
  return within.filter(
    (word) => /^[a-z]{4,}$/.test(word) && !others.has(word) && !STATES.has(word),
  );
}

function wordsBeyond(listed: readonly Segment[], startMs: number, endMs: number): string[] {
  const spoken = listed.flatMap(({ words = [] }) => words);
  return spoken
    .filter(({ start_ms, end_ms }) => end_ms <= startMs || start_ms >= endMs)
    .map(({ word }) => plainWord(word));
}

/** Over the interface at once, and in the files when the service says that it is done. */
async function judgeSound(
  sessionId: string,
  startMs: number,
  endMs: number,
  record: Record,
  user: UserSession,
): Promise<string[]> {
  const problems: string[] = [];
  const answer = await fetch(`${user.api.baseUrl}/sessions/${sessionId}/audio`, {
    headers: { authorization: `Bearer ${user.token}` },
  });
  const wave = Buffer.from(await answer.arrayBuffer()).subarray(WAVE_HEADER);
  if (!answer.ok) problems.push(`its audio is answered with ${answer.status}`);
  else if (hasSound(wave, startMs * SAMPLES_PER_MS, endMs * SAMPLES_PER_MS)) {
    problems.push("the redacted span is heard over the interface");
  }
  const isDone = async (): Promise<boolean> => {
    const [row] = await record.ask<{ left: number }>(
      `select count(*)::int as left from chunks
       where session_id = $1 and silence_wanted > silence_done`,
      [sessionId],
    );
    return row?.left === 0;
  };
  const isLate = await until(isDone, "the files", ERASED_MS).then(
    () => false,
    () => true,
  );
  if (isLate) return [...problems, "its files are not silenced after a minute"];
  const heard = await soundInFiles(sessionId, startMs, endMs, record);
  return [...problems, ...heard.map((n) => `chunk ${n} sounds on disk where it was redacted`)];
}

/** Sequences of chunks whose file has sound in the span: those of 16 kHz mono. */
async function soundInFiles(
  sessionId: string,
  startMs: number,
  endMs: number,
  record: Record,
): Promise<number[]> {
  const chunks = await record.ask<{
    sequence: number;
    start: number;
    media: string;
    blob: string;
  }>(
    `select sequence, start_sample::int as start, media_type as media,
       encode(sha256, 'hex') as blob
     from chunks where session_id = $1 and start_sample is not null
       and sample_rate = 16000 order by sequence`,
    [sessionId],
  );
  const found: number[] = [];
  for (const { sequence, start, media, blob } of chunks) {
    const file = await readFile(join(record.blobFolder, sessionId, blob)).catch(() => undefined);
    if (file === undefined) continue;
    const samples = media.startsWith("audio/wav") ? file.subarray(WAVE_HEADER) : file;
    const [from, to] = [startMs, endMs].map((ms) => ms * SAMPLES_PER_MS - start);
    if (hasSound(samples, from ?? 0, to ?? 0)) found.push(sequence);
  }
  return found;
}

/** 16 bit samples from `from` to `to`, as far as they are there. */
function hasSound(pcm: Buffer, from: number, to: number): boolean {
  const part = pcm.subarray(Math.max(0, from) * 2, Math.max(0, to) * 2);
  return part.some((byte) => byte !== 0);
}

/** No answer, no word, no name, no sound. */
async function judgeDeletion(
  { recording, calm }: Case,
  record: Record,
  user: UserSession,
): Promise<string[]> {
  const { sessionId, canary } = recording;
  const problems: string[] = [];
  const answers = await answersOf(user, sessionId);
  if (answers !== "deleted, 404") problems.push(`deleted, but answered with ${answers}`);
  const named = await record.tablesWith([canary]);
  if (named.length > 0) problems.push(`deleted, but its title stands in ${named.join(", ")}`);
  const words = distinctiveWords(calm.listed, -MARGIN_MS, Number.MAX_SAFE_INTEGER);
  const worded = await record.tablesWith(words, sessionId);
  if (worded.length > 0) problems.push(`deleted, but its words stand in ${worded.join(", ")}`);
  for (const table of ["audio_pieces", "checkpoints", "segment_edits", "versioned_snapshots"]) {
    const [row] = await record.ask<{ count: number }>(
      `select count(*)::int as count from public."${table}" where session_id = $1`,
      [sessionId],
    );
    if (row?.count) problems.push(`deleted, but ${row.count} rows of ${table} are there`);
  }
  const folder = join(record.blobFolder, sessionId);
  let files: string[] = [];
  const areGone = async (): Promise<boolean> => {
    files = await readdir(folder).catch(() => []);
    return files.length === 0;
  };
  await until(areGone, "the files", ERASED_MS).catch(() => undefined);
  if (files.length > 0) problems.push(`deleted, but ${files.length} audio files are there`);
  return problems;
}

/** What an administrator, who may see that it was there, is told of it, and of its words. */
async function answersOf(user: UserSession, sessionId: string): Promise<string> {
  const params = { path: { session_id: sessionId } };
  const { status } = await user.call((client) => client.GET("/sessions/{session_id}", { params }));
  try {
    await user.call((client) => client.GET("/sessions/{session_id}/segments", { params }));
    return `${status}, 200`;
  } catch (error) {
    if (error instanceof ApiError) return `${status}, ${error.status}`;
    throw error;
  }
}
