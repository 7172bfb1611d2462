import { createHash } from "node:crypto";
import type { Encryption } from "../../access/encryption.ts";
import { maySession, type SessionFacts } from "../../access/policy.ts";
import { SESSION_RATE } from "../../base/audio/sample-rate.ts";
import { delay } from "../../base/deferred.ts";
import { toAppError } from "../../base/errors.ts";
import type { Log } from "../../base/log.ts";
import type { QueueFigures, QueueOwner } from "../../base/queue-metrics.ts";
import { FairTurns } from "../../base/work/fair-turns.ts";
import type { WorkerVoices } from "../../inference/worker-voices.ts";
import type { Tenants } from "../../postgres/tenants.ts";
import type { SessionGrant } from "../sessions/access.ts";
import type { SpeakerSuggestions, Suggestion } from "../sessions/suggestions.ts";
import type { LabelSpeech } from "./label-speech-store.ts";
import type { HeardLabel, KnownVoice, SuggestionStore } from "./suggestions-store.ts";

/** Chance, before anything was heard, that a voice is that of somebody remembered. */
const ANYBODY_REMEMBERED = 0.5;

/**
 * Likelihood from which a voice is suggested: `npm run eval:voices` measures what it gives. Below
 * it nobody is named.
 */
export const SUGGESTED_FROM = 0.9;

/**
 * Likelihoods, 0..1, that a voice is that of each remembered person, from the logarithms of the
 * likelihood ratios with their prints. They sum up to 1 with that of its being nobody's: where many
 * are remembered, more evidence is needed.
 */
export function likelihoodsOf(logRatios: readonly number[]): number[] {
  const prior = ANYBODY_REMEMBERED / Math.max(1, logRatios.length);
  const weights = logRatios.map((each) => prior * Math.exp(Math.min(each, 50)));
  const total = weights.reduce((sum, each) => sum + each, 1 - ANYBODY_REMEMBERED);
  return weights.map((each) => each / total);
}

/** Shorter speech is not compared, in samples: 10 s. */
const LEAST_SAMPLES = 10 * SESSION_RATE;
/** The same without its pauses, in milliseconds. */
const LEAST_SPEECH_MS = 8_000;
/** Most speech of a label that is compared, in samples. */
const MOST_SAMPLES = 60 * SESSION_RATE;
const SAMPLE_BYTES = 2;
/** While the session is recorded, a label is compared again when it has so many times the speech. */
const GROWN = 1.5;
/** Sessions of different tenants are compared at once; others wait. */
const TURNS = {
  ...{ queue: "voice_comparisons", what: "Comparing voices", atOnce: 2, atOnceOfOne: 1 },
  ...{ waiting: { capacity: 32, share: 16 }, longestWaitMs: 60_000, retryAfter: 5 },
};
/** How long a caller waits for a comparison, milliseconds; it goes on after that. */
const PATIENCE_MS = 3_000;

interface SuggesterOptions {
  store: SuggestionStore;
  speech: Pick<LabelSpeech, "read">;
  voices: Pick<WorkerVoices, "compare">;
  encryption: Encryption;
  tenants: Pick<Tenants, "ofSession">;
  log: Log;
  patienceMs?: number;
}

/**
 * Compares the voices of sessions with those that are remembered in their workspace. Done when
 * somebody who may know of it asks who spoke, and only where speech or remembered voices have changed
 * since: what nobody looks at costs nothing.
 */
export class Suggester implements SpeakerSuggestions, QueueOwner {
  readonly #options: SuggesterOptions;
  readonly #runs = new Map<string, Promise<void>>();
  readonly #turns = new FairTurns(TURNS);
  readonly #closing = new AbortController();

  constructor(options: SuggesterOptions) {
    this.#options = options;
  }

  get queues(): readonly QueueFigures[] {
    return this.#turns.queues;
  }

  async for(grant: SessionGrant): Promise<ReadonlyMap<string, readonly Suggestion[]>> {
    const sight = sightOf(grant);
    if (sight === undefined) return new Map();
    const { store } = this.#options;
    const { id, workspaceId } = grant.facts;
    const voiceIds = await store.voiceIds(workspaceId);
    // What was suggested went with the voices.
    if (voiceIds.length === 0) return new Map();
    await this.#compared(grant.facts, voiceIds);
    const found = await store.read(id, sight.ofUser);
    const byLabel = new Map<string, Suggestion[]>();
    for (const { label, ...suggestion } of found) {
      byLabel.set(label, [...(byLabel.get(label) ?? []), suggestion]);
    }
    return byLabel;
  }

  /** Starts no more comparisons and waits for those that run. */
  async close(): Promise<void> {
    this.#closing.abort();
    await Promise.allSettled([...this.#runs.values()]);
  }

  /** Waits for a limited time until what has changed was compared. */
  async #compared(facts: SessionFacts, voiceIds: readonly string[]): Promise<void> {
    const waiting = new AbortController();
    const run = this.#run(facts.id, () => this.#compare(facts, voiceIds));
    const patience = this.#options.patienceMs ?? PATIENCE_MS;
    await Promise.race([run, delay(patience, waiting.signal)]);
    waiting.abort();
  }

  /** Joins a comparison of the session that runs, or begins one. Never rejects. */
  #run(sessionId: string, work: () => Promise<void>): Promise<void> {
    const known = this.#runs.get(sessionId);
    if (known !== undefined) return known;
    if (this.#closing.signal.aborted) return Promise.resolve();
    const run = this.#inTurn(sessionId, work)
      .catch((thrown: unknown) => {
        const { code } = toAppError(thrown);
        // Whoever asks again has it compared then.
        if (code === "overloaded") return;
        this.#options.log.warn({ session_id: sessionId, code }, "voices could not be compared");
      })
      .finally(() => this.#runs.delete(sessionId));
    this.#runs.set(sessionId, run);
    return run;
  }

  async #inTurn(sessionId: string, work: () => Promise<void>): Promise<void> {
    const tenant = await this.#options.tenants.ofSession(sessionId);
    await this.#turns.run(tenant, async () => {
      if (!this.#closing.signal.aborted) await work();
    });
  }

  async #compare(
    { id, workspaceId, ended }: SessionFacts,
    voiceIds: readonly string[],
  ): Promise<void> {
    const { store } = this.#options;
    const digest = digestOf(voiceIds);
    const labels = await store.labels(id, LEAST_SAMPLES);
    const isOver = ended !== undefined;
    const due = labels.filter((label) => isDue(label, digest, isOver));
    if (due.length === 0) return;
    const prints = this.#open(workspaceId, await store.voices(voiceIds));
    for (const label of due) {
      if (this.#closing.signal.aborted) return;
      const heard = await this.#compareOne(id, label, prints);
      const samples = isOver ? label.samples : heard.samples;
      await store.keep({ sessionId: id, ...label, ...heard, samples, voices: digest });
    }
  }

  /** The prints that can be decrypted: those of another installation's key cannot. */
  #open(workspaceId: string, known: readonly KnownVoice[]): { voiceId: string; print: Buffer }[] {
    const { encryption, log } = this.#options;
    return known.flatMap(({ id, userId, encrypted }) => {
      try {
        const owner = voiceOwner(workspaceId, userId);
        return [{ voiceId: id, print: encryption.decrypt(owner, encrypted) }];
      } catch {
        log.warn({ voice_id: id }, "a remembered voice cannot be decrypted");
        return [];
      }
    });
  }

  /** Whom a label sounds like, and of how much speech that was told, in samples. */
  async #compareOne(
    sessionId: string,
    { label, samples }: HeardLabel,
    prints: readonly { voiceId: string; print: Buffer }[],
  ): Promise<{ suggested: { voiceId: string; likelihood: number }[]; samples: number }> {
    const { speech, voices } = this.#options;
    const { pcm } = await speech.read(sessionId, label, MOST_SAMPLES);
    const { logRatios, speechMs } = await voices.compare(
      pcm,
      prints.map(({ print }) => print),
    );
    const likelihoods = speechMs < LEAST_SPEECH_MS ? [] : likelihoodsOf(logRatios);
    const suggested = prints.flatMap(({ voiceId }, n) => {
      const likelihood = likelihoods[n] ?? 0;
      return likelihood >= SUGGESTED_FROM ? [{ voiceId, likelihood }] : [];
    });
    // Of a stream the newest sound may not be stored yet: then what was heard soon counts as grown.
    const spoken = (speechMs / 1_000) * SESSION_RATE;
    const isThere = spoken >= pcm.length / SAMPLE_BYTES / 2;
    return { suggested, samples: isThere ? samples : Math.min(samples, spoken) };
  }
}

/** What a remembered print is bound to. */
export function voiceOwner(workspaceId: string, userId: string): string {
  return `${workspaceId}:${userId}`;
}

/**
 * Whose suggestions the caller may see: those of everybody, when they assign labels; their own, when
 * they claim some; undefined for none. Only members of the workspace know who else belongs to it.
 */
function sightOf({ principal, facts }: SessionGrant): { ofUser: string | undefined } | undefined {
  if (principal.kind !== "user" || facts.workspaceRole === undefined) return undefined;
  if (maySession(principal, "session.assign", facts) === "allow") return { ofUser: undefined };
  const mayClaim = maySession(principal, "session.claim", facts) === "allow";
  return mayClaim ? { ofUser: principal.id } : undefined;
}

function digestOf(voiceIds: readonly string[]): Buffer {
  return createHash("sha256").update(voiceIds.toSorted().join("\n")).digest();
}

function isDue(label: HeardLabel, voices: Buffer, isOver: boolean): boolean {
  const { samples, heard, comparedSamples, comparedHeard, comparedVoices } = label;
  if (comparedSamples === undefined || comparedHeard === undefined) return true;
  if (comparedVoices?.equals(voices) !== true) return true;
  if (comparedHeard.equals(heard)) return isOver && comparedSamples < samples;
  return isOver || samples >= GROWN * comparedSamples || samples < comparedSamples;
}
