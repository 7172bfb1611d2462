import { isEnglish } from "../../../src/language/english.ts";
import type {
  ModelShare,
  ModelWork,
  SummariseRequest,
  Summary,
} from "../../../src/wire/gen/voice/v1/text.ts";
import { mayGetText } from "../../../src/wire/language-model.ts";
import { type ChatAnswer, estimateTokens, ModelError } from "../../language-model/chat-client.ts";
import type { LanguageModel } from "../../language-model/language-model.ts";
import type { GroundRequest, GroundResponse } from "../grounding/ground-task.ts";
import { ALL_NOTES, customNotes, lineSize } from "./prompts.ts";
import {
  type NotesTools,
  noteBriefly,
  noteSection,
  type ProvedEntry,
  type ProvedNotes,
  UnreadableError,
} from "./proved-notes.ts";
import { keyOf, SectionMemo } from "./section-memo.ts";
import { kindsOf, toSummary } from "./summaries.ts";
import { clearShare, cutSections, type Utterance, utterancesOf } from "./utterances.ts";

interface ModelNotesOptions {
  model: Pick<LanguageModel, "ask" | "status" | "settings" | "metrics">;
  /** Compares sentences with what they cite, in a thread. */
  ground(request: GroundRequest, signal: AbortSignal): Promise<GroundResponse>;
}

interface WordingOptions {
  signal: AbortSignal;
  onProgress(fraction: number): void;
}

const MOST_ANSWER_TOKENS = 2_000;
/** Of all answers together: some 4 kB each. */
const MEMO = { most: 2_000, keptMs: 60 * 60_000 };
/** So many points need no choice to be a brief. */
const BRIEF_POINTS = 5;

/** More tokens are needed than the tenant has left today. */
class OverBudget extends Error {}

/**
 * Has the notes of a session worded by a language model: section by section, each small enough for one request,
 * and every sentence is compared with the utterances that it cites. What they do not bear is dropped; where
 * nothing is left, and whenever the model fails, the notes by rule stand.
 */
export class ModelNotes {
  readonly #options: ModelNotesOptions;
  readonly #memo = new SectionMemo<ProvedNotes>(MEMO);

  constructor(options: ModelNotesOptions) {
    this.#options = options;
  }

  /**
   * The summary in the model's words, or the one by rule with what became of the model's; that one where the model
   * is to be asked later. Rejects with
   * `overloaded` when too much waits for the model, and when `signal` aborts.
   */
  async word(
    request: SummariseRequest,
    byRule: Summary,
    options: WordingOptions,
  ): Promise<Summary> {
    const { settings, status, metrics } = this.#options.model;
    const { model: share } = request;
    const kinds = kindsOf(request);
    if (share === undefined || !mayGetText(status, share.mayLeave)) return byRule;
    const isHeard = clearShare(request.segments) >= 1 / 2;
    if (kinds.length === 0 || !isEnglish(request.language) || !isHeard) return byRule;
    const work = { name: settings.model, outcome: "away", dropped: 0, tokens: 0 };
    if (share.later) return { ...byRule, model: { ...work, outcome: "later" } };
    // Whoever knows that it is away does not wait for it.
    if (!status.answers) return { ...byRule, model: work };
    try {
      const notes = await this.#notes(request, share, work, options);
      const summary = toSummary(request, notes.entries, byRule);
      work.dropped = notes.dropped.filter((kind) => kinds.includes(kind)).length;
      const isAny = notes.entries.some(({ kind }) => kinds.includes(kind));
      if (summary !== undefined) work.outcome = "worded";
      else if (isAny) work.outcome = "too_little";
      else work.outcome = work.dropped > 0 ? "nothing_borne" : "none_found";
      metrics.sentences({ shown: summary?.items.length ?? 0, dropped: work.dropped });
      return { ...(summary ?? byRule), model: work };
    } catch (error) {
      work.outcome = outcomeOf(error);
      return { ...byRule, model: work };
    }
  }

  async #notes(
    request: SummariseRequest,
    share: ModelShare,
    work: ModelWork,
    { signal, onProgress }: WordingOptions,
  ): Promise<ProvedNotes> {
    const { requestTokens } = this.#options.model.settings;
    const answerTokens = Math.min(MOST_ANSWER_TOKENS, Math.floor(requestTokens / 4));
    const tools = this.#tools(request, share, work, { answerTokens, signal });
    const sections = cutSections(
      utterancesOf(request.segments),
      requestTokens -
        answerTokens -
        estimateTokens(tools.wanted.prompt([], "json", 0).system) -
        400,
      (utterance) => estimateTokens("x".repeat(lineSize(utterance))),
    );
    const entries: ProvedEntry[] = [];
    const dropped: string[] = [];
    for (const [at, section] of sections.entries()) {
      const notes = await this.#section(section, tools, signal);
      entries.push(...notes.entries);
      dropped.push(...notes.dropped);
      onProgress((at + 1) / (sections.length + 1));
    }
    if (request.summaryType !== "brief") return { entries, dropped };
    const brief = await this.#brief(entries, tools, signal);
    return { entries: brief.entries, dropped: [...dropped, ...brief.dropped] };
  }

  #tools(
    request: SummariseRequest,
    share: ModelShare,
    work: ModelWork,
    { answerTokens, signal }: { answerTokens: number; signal: AbortSignal },
  ): NotesTools {
    const { model, ground } = this.#options;
    const { sections } = request;
    return {
      wanted: sections.length === 0 ? ALL_NOTES : customNotes(sections),
      form: model.status.abilities.includes("json_schema") ? "json" : "lines",
      answerTokens,
      speakers: [...new Set(request.segments.map(({ speaker }) => speaker))],
      ground: (sentences) => ground(sentences, signal),
      ask: async (prompt): Promise<ChatAnswer> => {
        const needed = estimateTokens(prompt.system + prompt.user) + prompt.answerTokens;
        if (work.tokens + needed > share.tokens) throw new OverBudget();
        const answer = await model.ask(prompt, share.tenant, signal);
        work.tokens += answer.tokens.read + answer.tokens.written;
        return answer;
      },
    };
  }

  #section(
    section: readonly Utterance[],
    tools: NotesTools,
    signal: AbortSignal,
  ): Promise<ProvedNotes> {
    const { model } = this.#options.model.settings;
    const key = keyOf(model, tools.wanted.prompt(section, tools.form, tools.answerTokens));
    // What is kept cites the utterances by their ids, which the prompt does not have.
    const ids = section.map(({ segmentId }) => segmentId).join();
    return this.#memo.get(`${key} ${ids}`, () => noteSection(section, tools), signal);
  }

  /** The points of one section are few enough for one request; those of many are shortened in groups first. */
  async #brief(
    entries: readonly ProvedEntry[],
    tools: NotesTools,
    signal: AbortSignal,
  ): Promise<ProvedNotes> {
    let points = entries.filter(({ kind }) => kind === "points");
    const dropped: string[] = [];
    const most = Math.max(2 * BRIEF_POINTS, Math.floor(tools.answerTokens / 25));
    while (points.length > BRIEF_POINTS) {
      const groups = Array.from({ length: Math.ceil(points.length / most) }, (_, at) =>
        points.slice(at * most, (at + 1) * most),
      );
      const shorter: ProvedEntry[] = [];
      for (const group of groups) {
        signal.throwIfAborted();
        const notes = await this.#shorten(group, tools, signal);
        shorter.push(...notes.entries);
        dropped.push(...notes.dropped);
      }
      points = shorter;
    }
    return { entries: points, dropped };
  }

  async #shorten(
    group: readonly ProvedEntry[],
    tools: NotesTools,
    signal: AbortSignal,
  ): Promise<ProvedNotes> {
    if (group.length <= BRIEF_POINTS) return { entries: group, dropped: [] };
    const cited = group.flatMap((point) => point.cited.map(({ segmentId }) => segmentId));
    const texts = group.map(({ text }) => text);
    const key = `brief ${JSON.stringify([this.#options.model.settings.model, texts, cited])}`;
    const notes = await this.#memo.get(key, () => noteBriefly(group, tools), signal);
    const chosen = notes.entries.slice(0, BRIEF_POINTS);
    // Points that are proved already stand in where nothing of the shortened ones is.
    return { entries: chosen.length > 0 ? chosen : spread(group), dropped: notes.dropped };
  }
}

/** Some of the points, from all over. */
function spread(points: readonly ProvedEntry[]): ProvedEntry[] {
  const step = points.length / BRIEF_POINTS;
  return Array.from({ length: BRIEF_POINTS }, (_, at) => points[Math.floor(at * step)]).flatMap(
    (point) => point ?? [],
  );
}

function outcomeOf(error: unknown): string {
  if (error instanceof OverBudget) return "over_budget";
  if (error instanceof UnreadableError) return "unreadable";
  if (error instanceof ModelError) return "away";
  throw error;
}
