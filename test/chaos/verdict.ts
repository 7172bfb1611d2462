import type { UserSession } from "../../src/cli/client/user-session.ts";
import type { SessionEvent } from "../../src/session/event.ts";
import { until } from "../support/until.ts";
import type { Case, StoredEvent } from "./case.ts";
import { judgeFeat } from "./feat-verdict.ts";
import { expectHooks, type HookEar } from "./hook-ear.ts";
import { compareWords, type Outcome, readOutcome, wordsOf } from "./outcome.ts";
import { type Examined, Record } from "./record.ts";
import type { Follower, Recording } from "./recording.ts";
import { nameOf } from "./stories.ts";

/** After which a session is settled, counted while nothing is disturbed. */
const SETTLE_MS = 240_000;
/** How long what disturbs may last at most. */
const DISTURBED_MS = 3_600_000;
const HOOKS_MS = 120_000;
/** Words at each end of what was read again: where the first reading had cut them off. */
const WORDS_PER_SEAM = 2;

/** What is still to be done for a session. */
interface Left {
  readonly left: number;
  readonly isDue: boolean;
  readonly waiting: number;
  readonly redone: boolean;
}

export interface ExaminerParts {
  readonly cluster: Examined;
  /** Past every proxy. */
  readonly user: UserSession;
  readonly hooks: HookEar | undefined;
  /** Aborted once nothing is disturbed any more: how long a part takes to start again depends on the machine. */
  readonly undisturbed?: AbortSignal;
}

/** Looks past the proxies at what there is. */
export class Examiner {
  readonly record: Record;
  readonly #user: UserSession;
  readonly #hooks: HookEar | undefined;
  readonly #undisturbed: AbortSignal | undefined;
  /** What sessions show to have happened, counted: gaps given up, late audio, replacements. */
  readonly bites = new Map<string, number>();

  constructor({ cluster, user, hooks, undisturbed }: ExaminerParts) {
    this.record = new Record(cluster);
    this.#user = user;
    this.#hooks = hooks;
    this.#undisturbed = undisturbed;
  }

  /** Every way in which the recording differs from an undisturbed one of its lane. */
  async examine(recording: Recording, calm: Outcome): Promise<string[]> {
    const { sessionId, lane, story } = recording;
    const problems =
      recording.feat?.deed === "delete"
        ? await this.#examineDeleted(recording, calm)
        : await this.#examineStanding(recording, calm);
    const about = story === undefined ? `lane ${lane}` : `lane ${lane}; ${nameOf(story)}`;
    return problems.map((problem) => `session ${sessionId} (${about}): ${problem}`);
  }

  async #examineStanding(recording: Recording, calm: Outcome): Promise<string[]> {
    const { sessionId, followers, feat } = recording;
    const unsettled = await this.#settled(recording);
    const found = await readOutcome(this.#user, sessionId);
    const events = await this.#events(sessionId);
    this.#countBites(recording, events);
    const file: Case = { recording, calm, found, events, seamWords: seamWordsOf(events) };
    const problems = [...unsettled, ...judgeText(file), ...judgeChunks(file)];
    if (feat !== undefined)
      problems.push(...(await judgeFeat(feat, file, this.record, this.#user)));
    problems.push(...(await this.#judgeHooks(recording, events)));
    const stored = events.map(({ seq }) => seq);
    for (const follower of followers) {
      await follow(follower, stored);
      problems.push(...judgeFollower(follower, stored, found));
    }
    return problems;
  }

  /** Gone everywhere: answers, tables, files, and no viewer saw an event out of turn. */
  async #examineDeleted(recording: Recording, calm: Outcome): Promise<string[]> {
    const { sessionId, followers, canary, feat } = recording;
    const events = await this.#events(sessionId);
    this.#countBites(recording, events);
    const file: Case = {
      ...{ recording, calm, events, seamWords: 0 },
      found: { segments: [], chunks: [], listed: [] },
    };
    const problems = feat === undefined ? [] : await judgeFeat(feat, file, this.record, this.#user);
    problems.push(...(await this.#judgeHooks(recording, events)));
    for (const follower of followers) {
      await follower.stop();
      const { seqs, fromStart } = follower;
      const first = fromStart ? 1 : seqs[0];
      const isInTurn = seqs.every((seq, n) => seq === (first ?? 0) + n);
      if (!isInTurn) problems.push(`a viewer of ${canary} saw ${seqs.join(" ")}`);
    }
    return problems;
  }

  /** Completed, every chunk read, no reading under way; what is not so after all that time. */
  async #settled({ sessionId, feat }: Recording): Promise<string[]> {
    let state = "";
    let since = performance.now();
    const isJudged = async (): Promise<boolean> => {
      if (this.#undisturbed?.aborted === false) since = performance.now();
      state = await this.#stateOf(sessionId, feat?.deed === "redo");
      return state === "" || performance.now() - since > SETTLE_MS;
    };
    await until(isJudged, "the session", DISTURBED_MS + SETTLE_MS).catch(() => undefined);
    return state === "" ? [] : [`after ${SETTLE_MS / 1_000} s: ${state}`];
  }

  async #stateOf(sessionId: string, isRedone: boolean): Promise<string> {
    const params = { path: { session_id: sessionId } };
    const session = await this.#user.call((client) =>
      client.GET("/sessions/{session_id}", { params }),
    );
    if (session.status !== "completed") return `its status is ${session.status}`;
    const completeness = await this.#user.call((client) =>
      client.GET("/sessions/{session_id}/completeness", { params }),
    );
    if (!completeness.complete) return `not complete: ${JSON.stringify(completeness.missing)}`;
    const [row] = await this.record.ask<Left>(
      `select (select count(*)::int from jobs where session_id = $1 and status <> 'completed') as left,
              exists (select from notes_due where session_id = $1) as "isDue",
              (select count(*)::int from outbox where session_id = $1) as waiting,
              exists (select from events e where e.session_id = $1
                and e.type = 'JobCompleted' and e.seq > (select max(seq) from events
                  where session_id = $1 and type = 'RedoRequested')) as redone`,
      [sessionId],
    );
    if (row?.isDue !== false) return "its notes are due";
    if (row.left !== 0) return `${row.left} of its jobs are not completed`;
    if (row.waiting !== 0) return `${row.waiting} commands wait for it`;
    return isRedone && !row.redone ? "the redo has not ended" : "";
  }

  /** The session's events, without words, for those who look for the cause. */
  async history(sessionId: string): Promise<string[]> {
    const rows = await this.record.ask<{ line: string }>(
      `select seq || ' ' || epoch || ' ' || at || ' ' || payload as line
       from events where session_id = $1 order by seq`,
      [sessionId],
    );
    return rows.map(({ line }) => line);
  }

  async #events(sessionId: string): Promise<StoredEvent[]> {
    return this.record.ask<{ seq: number; payload: SessionEvent }>(
      "select seq::int as seq, payload from events where session_id = $1 order by seq",
      [sessionId],
    );
  }

  /** Each message once for its cause, none without one. */
  async #judgeHooks({ sessionId, feat }: Recording, events: readonly StoredEvent[]) {
    const hooks = this.#hooks;
    if (hooks === undefined) return [];
    const areSent = async (): Promise<boolean> => {
      const [row] = await this.record.ask<{ left: number }>(
        `select count(*)::int as left from webhook_deliveries
         where status = 'pending' and data->>'session_id' = $1`,
        [sessionId],
      );
      return row?.left === 0;
    };
    const isLate = await until(areSent, "webhooks", HOOKS_MS).then(
      () => [],
      () => ["webhooks are left to be delivered"],
    );
    return [...isLate, ...expectHooks(hooks, sessionId, events, feat?.deed === "delete")];
  }

  #countBites({ story, feat }: Recording, events: readonly StoredEvent[]): void {
    const count = (name: string, by = 1) => this.bites.set(name, (this.bites.get(name) ?? 0) + by);
    const givenUp = new Set<number>();
    for (const { payload } of events) {
      if (payload.type === "GapDeclared") {
        count("gaps given up");
        givenUp.add(payload.sequence);
      }
      const isLate = payload.type === "ChunkReceived" && givenUp.has(payload.sequence);
      if (isLate) count("chunks after their gap");
      if (payload.type === "TranscriptReplaced") count("replacements");
    }
    if (feat !== undefined) count(feat.deed);
    if (story === undefined) return;
    const placeOf = (type: SessionEvent["type"]) =>
      events.findIndex(({ payload }) => payload.type === type);
    const [stop, first] = [placeOf("SessionStopped"), placeOf("ChunkReceived")];
    if (story.delivery === "stop-first" && stop >= 0 && stop < first) count("stopped first");
    if (story.delivery === "held" && placeOf("GapDeclared") >= 0) count("held back");
  }
}

/**
 * Two ends for each stretch of chunks that came when their gap was given up, whether it was read
 * at once or in parts.
 */
function seamWordsOf(events: readonly StoredEvent[]): number {
  const givenUp = new Set<number>();
  const late = new Set<number>();
  for (const { payload } of events) {
    if (payload.type === "GapDeclared") givenUp.add(payload.sequence);
    if (payload.type === "ChunkReceived" && givenUp.has(payload.sequence))
      late.add(payload.sequence);
  }
  const stretches = [...late].filter((sequence) => !late.has(sequence - 1)).length;
  return stretches * 2 * WORDS_PER_SEAM;
}

/** The words, but for what a person changed or took out. */
function judgeText({ recording, calm, found, seamWords }: Case): string[] {
  const { feat } = recording;
  const isPlain = feat === undefined || feat.deed === "raise" || feat.deed === "summarise";
  if (isPlain && seamWords === 0) return differences("segments", found.segments, calm.segments);
  // Judged with its span.
  if (feat?.deed === "redact") return [];
  const back = found.listed.map((segment) =>
    feat?.deed === "edit" && segment.text === feat.text ? { text: feat.before } : segment,
  );
  const { missing, extra } = compareWords(wordsOf(back), wordsOf(calm.listed));
  if (missing.length + extra.length <= seamWords) return [];
  return [
    `words: "${missing.join(" ")}" missing, "${extra.join(" ")}" too many; ${seamWords} may differ`,
  ];
}

function judgeChunks({ recording, calm, found, seamWords }: Case): string[] {
  const { streams, feat } = recording;
  const isAsCalm = feat === undefined && seamWords === 0;
  if (isAsCalm && streams) {
    return differences("chunks", [joined(found.chunks)], [joined(calm.chunks)]);
  }
  if (isAsCalm) return differences("chunks", found.chunks, calm.chunks);
  if (streams) return [];
  const states = (chunks: readonly string[]) => chunks.map((line) => line.replace(/:.*$/s, ""));
  return differences("chunks", states(found.chunks), states(calm.chunks));
}

/** Chunk borders and ways of sending change nothing: all lanes say the same. */
export function disagreements(outcomes: readonly Outcome[]): string[] {
  const [first, ...others] = outcomes;
  if (first === undefined) return [];
  return others.flatMap((other, n) =>
    differences(`undisturbed, lane ${n + 1}: segments`, other.segments, first.segments),
  );
}

/** The words of all chunks, and what states these are in. */
function joined(chunks: readonly string[]): string {
  const states = new Set(chunks.map((line) => line.replace(/^\d+ (\w+):.*$/s, "$1")));
  const words = chunks.flatMap((line) => line.replace(/^\d+ \w+: ?/, "").split(" "));
  return `${[...states].join(", ")}: ${words.filter((word) => word !== "").join(" ")}`;
}

async function follow(follower: Follower, stored: readonly number[]): Promise<void> {
  const newest = stored.at(-1) ?? 0;
  const isThere = () => follower.seen >= newest || follower.gaveUp !== undefined;
  await until(isThere, "a viewer", 90_000).catch(() => undefined);
  await follower.stop();
}

function judgeFollower(follower: Follower, stored: readonly number[], found: Outcome): string[] {
  const { fromStart, seqs, snapshotSeq, gaveUp, transcript, isStale } = follower;
  const who = `viewer ${fromStart ? "from the start" : `from ${snapshotSeq}`}`;
  if (gaveUp !== undefined) return [`${who} gave up at ${follower.seen}: ${gaveUp}`];
  const expected = fromStart ? stored : stored.filter((seq) => seq > snapshotSeq);
  // What was stored after the look at the journal is not held against it.
  const seen = seqs.filter((seq) => seq <= (stored.at(-1) ?? 0));
  const problems = differences(`${who}: events`, seen.map(String), expected.map(String));
  if (isStale) return problems;
  const heard = transcript.finals.map(({ speaker, text }) => `${speaker}: ${text}`);
  const said = found.segments.map((line) => line.replace(/ \d+-\d+:/, ":"));
  return [...problems, ...differences(`${who}: words`, heard, said)];
}

export function differences(
  what: string,
  found: readonly string[],
  wanted: readonly string[],
): string[] {
  if (found.length === wanted.length && found.every((each, n) => each === wanted[n])) return [];
  const at = wanted.findIndex((each, n) => each !== found[n]);
  const place = at < 0 ? wanted.length : at;
  return [
    `${what}: ${found.length} for ${wanted.length}, at ${place} ` +
      `"${found[place] ?? "nothing"}" for "${wanted[place] ?? "nothing"}"`,
  ];
}
