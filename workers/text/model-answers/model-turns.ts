import type {
  AnswerSentence,
  ModelTurn,
  ModelTurnRequest,
} from "../../../src/wire/gen/voice/v1/retrieval.ts";
import type { ModelShare } from "../../../src/wire/gen/voice/v1/text.ts";
import { mayGetText } from "../../../src/wire/language-model.ts";
import { type ChatAnswer, estimateRequest, ModelError } from "../../language-model/chat-client.ts";
import type { LanguageModel } from "../../language-model/language-model.ts";
import type { GroundRequest, GroundResponse } from "../grounding/ground-task.ts";
import { isPlainSentence } from "../model-notes/answers.ts";
import { readSentences } from "./read-answer.ts";
import { type FoundUtterance, turnPrompt } from "./turn-prompt.ts";

interface ModelTurnsOptions {
  model: Pick<LanguageModel, "ask" | "status" | "settings" | "metrics">;
  /** Compares sentences with what they cite, in a thread. */
  ground(request: GroundRequest, signal: AbortSignal): Promise<GroundResponse>;
}

const MOST_ANSWER_TOKENS = 1_000;
/** Most calls that are taken of one turn. */
const MOST_CALLS = 8;

/** A label of a voice that nobody has named. */
const LABEL = /^S\d+$/u;

/**
 * Has a language model take turns at questions: it calls tools, which others run, or answers. Every sentence of
 * an answer is compared with the utterances that it cites, and dropped when they do not bear it.
 */
export class ModelTurns {
  readonly #options: ModelTurnsOptions;

  constructor(options: ModelTurnsOptions) {
    this.#options = options;
  }

  /**
   * One turn, or what came of it; the text is given to the model only where that may be. Rejects with
   * `overloaded` when too much waits for the model, and when `signal` aborts.
   */
  async take(request: ModelTurnRequest, signal: AbortSignal): Promise<ModelTurn> {
    const { settings, status } = this.#options.model;
    const work = { name: settings.model, outcome: "not_asked", dropped: 0, tokens: 0 };
    const turn: ModelTurn = { calls: [], sentences: [], work };
    const { model: share } = request;
    if (share === undefined || !mayGetText(status, share.mayLeave)) return turn;
    if (!status.abilities.includes("tools")) return turn;
    try {
      if (!status.answers) return { ...turn, work: { ...work, outcome: "away" } };
      const { calls = [], sentences = [], ...taken } = await this.#take(request, share, signal);
      return { calls, sentences, work: { ...work, ...taken } };
    } catch (error) {
      if (!(error instanceof ModelError)) throw error;
      return { ...turn, work: { ...work, outcome: "away" } };
    }
  }

  async #take(
    request: ModelTurnRequest,
    share: ModelShare,
    signal: AbortSignal,
  ): Promise<TakenTurn> {
    const { model } = this.#options;
    const { requestTokens } = model.settings;
    const answerTokens = Math.min(MOST_ANSWER_TOKENS, Math.floor(requestTokens / 4));
    const { chat, utterances } = turnPrompt(request, requestTokens - answerTokens, answerTokens);
    if (estimateRequest(chat) > share.tokens) return { outcome: "over_budget" };
    const answer = await model.ask(chat, share.tenant, signal);
    const tokens = answer.tokens.read + answer.tokens.written;
    if (!request.mustAnswer && answer.calls.length > 0) {
      const calls = answer.calls.slice(0, MOST_CALLS);
      return {
        ...{ outcome: "called", tokens },
        calls: calls.map((call) => ({ tool: call.name, arguments: call.arguments })),
      };
    }
    return { tokens, ...(await this.#prove(answer, utterances, signal)) };
  }

  async #prove(
    { text, isWhole }: ChatAnswer,
    utterances: ReadonlyMap<number, FoundUtterance>,
    signal: AbortSignal,
  ): Promise<TakenTurn> {
    // Of one that was cut off, the last line may say half of what it should.
    const read = readSentences(isWhole ? text : text.slice(0, text.lastIndexOf("\n") + 1));
    if (read === undefined) return { outcome: "unreadable" };
    const claims = read
      .map(({ text, cites }) => ({
        ...{ text, cited: [...new Set(cites)].flatMap((number) => utterances.get(number) ?? []) },
      }))
      .filter(
        ({ text, cited }) => cited.length > 0 && isPlainSentence(text) && isClear(text, cited),
      );
    const sentences = await this.#borne(claims, utterances, signal);
    const dropped = read.length - sentences.length;
    this.#options.model.metrics.sentences({ shown: sentences.length, dropped });
    return { outcome: sentences.length > 0 ? "worded" : "nothing_borne", sentences, dropped };
  }

  async #borne(
    claims: readonly Claim[],
    utterances: ReadonlyMap<number, FoundUtterance>,
    signal: AbortSignal,
  ): Promise<AnswerSentence[]> {
    if (claims.length === 0) return [];
    const speakers = [...new Set([...utterances.values()].map(({ speaker }) => speaker))];
    const sentences = claims.map(({ text, cited }) => ({
      text,
      cited: cited.map(({ speaker, text, isOrder }) => ({ speaker, text, isOrder })),
    }));
    const borne = await this.#options.ground({ speakers, sentences }, signal);
    return claims.flatMap(({ text, cited }, at) => {
      const segmentIds = (borne[at] ?? []).flatMap((place) => cited[place]?.segmentId ?? []);
      return segmentIds.length === 0 ? [] : [{ text, segmentIds: [...new Set(segmentIds)] }];
    });
  }
}

/** What was made of a turn; what is absent is empty. */
interface TakenTurn extends Partial<Omit<ModelTurn, "work">> {
  outcome: string;
  tokens?: number;
  dropped?: number;
}

interface Claim {
  text: string;
  cited: readonly FoundUtterance[];
}

/** False where a label would be somebody else in each session that is cited. */
function isClear(text: string, cited: readonly FoundUtterance[]): boolean {
  const labels = cited.filter(({ speaker }) => LABEL.test(speaker));
  return !labels.some(
    ({ speaker, session }) =>
      text.includes(speaker) &&
      labels.some((other) => other.speaker === speaker && other.session !== session),
  );
}
