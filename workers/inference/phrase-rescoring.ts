import type { Decoding } from "./greedy-decoding.ts";
import {
  cutCache,
  type DecoderStep,
  type EncodedSound,
  type MoonshineNetwork,
} from "./moonshine-network.ts";
import { logProbability } from "./softmax.ts";
import { BEGIN_TOKEN, END_TOKEN, type Tokenizer } from "./tokenizer.ts";
import type { WantedPhrases } from "./wanted-phrases.ts";

/** A phrase may stand where its first token's logit is this much below the highest at most. */
const MOST_BEHIND = 8;
/** Places that are looked at in each text, the likeliest first tokens first. */
const MOST_PLACES = 16;
/** Of these, places where the whole text is judged, those with the likeliest phrases first. */
const MOST_JUDGED = 2;
/** A phrase stands for so many words of the text more than it has itself at most. */
const MOST_REPLACED_MORE = 3;
/**
 * Runs of the network for one text, one for each token that is tried: long phrases, of which somebody
 * gave many, must not hold up other sessions.
 */
const MOST_RUNS = 150;
/** Phrases that are put into one text. */
const MOST_PHRASES = 4;
/**
 * A text with a phrase may be less likely than one without by this much, and by so much for each
 * of the phrase's tokens, natural logarithms.
 */
const PHRASE_BONUS = 3;
const TOKEN_BONUS = 1.5;
/** What follows a phrase becomes likelier by so much more at most, natural logarithms. */
const MOST_MENDED = 2;
const MARKS = /^\p{P}+$/u;

interface Rescored {
  encoded: EncodedSound;
  decoding: Decoding;
  phrases: WantedPhrases;
  tokenizer: Tokenizer;
}

/** What one text may still cost. */
interface Budget {
  runs: number;
}

/** A text and what the network thinks of it. */
interface ScoredText {
  tokens: readonly number[];
  /** Of each token and of the end, natural logarithms. */
  logs: readonly number[];
  /** Logits behind each token, the begin token first, row by row. */
  logits: DecoderStep["logits"];
  cache: DecoderStep["cache"];
}

/** A text with a phrase, and how much likelier it is up to there, with what the phrase adds. */
interface Substituted {
  tokens: readonly number[];
  likelihood: number;
}

/** A phrase in the place of some words of a text. */
interface Place {
  at: number;
  /** Its tokens. */
  form: readonly number[];
  /** How far its first token is behind the likeliest one, logits. */
  behind: number;
}

/**
 * Puts phrases of a vocabulary into a text where the sound bears them out: each phrase whose beginning
 * is not far from the likeliest token is tried in the place of the next words, and kept if the whole
 * text is hardly less likely with it (rescoring of an n-best list with a bonus for wanted words).
 * The rest of the text stays as it is. Yields after each run of the network.
 */
export async function* rescorePhrases(
  network: MoonshineNetwork,
  request: Rescored,
): AsyncGenerator<undefined, Decoding> {
  const { encoded, decoding, phrases, tokenizer } = request;
  if (decoding.isEndless || decoding.tokens.length === 0) return decoding;
  const tried = new Set<string>();
  const budget: Budget = { runs: MOST_RUNS };
  let best = await score(network, encoded, decoding.tokens);
  yield;
  for (let count = 0; count < MOST_PHRASES; count++) {
    const places = placesIn(best, phrases, tokenizer).filter(
      (place) => !tried.has(nameOf(best, place)),
    );
    const judged: Substituted[] = [];
    for (const place of places.slice(0, MOST_PLACES)) {
      tried.add(nameOf(best, place));
      const text = yield* substituted(network, request, budget, best, place);
      if (text !== undefined) judged.push(text);
    }
    judged.sort((a, b) => b.likelihood - a.likelihood);
    let found: ScoredText | undefined;
    for (const { tokens } of judged.slice(0, MOST_JUDGED)) {
      const text = await score(network, encoded, tokens);
      yield;
      const than = worth(found ?? best, phrases, tokenizer);
      if (worth(text, phrases, tokenizer) > than) found = text;
    }
    if (found === undefined) break;
    best = found;
  }
  const tokens = [...best.tokens];
  return { tokens, probabilities: best.logs.slice(0, -1).map(Math.exp), isEndless: false };
}

async function score(
  network: MoonshineNetwork,
  encoded: EncodedSound,
  tokens: readonly number[],
): Promise<ScoredText> {
  const { logits, cache } = await network.begin(encoded, [BEGIN_TOKEN, ...tokens]);
  const row = rowsOf(logits, tokens.length + 1);
  const logs = [...tokens, END_TOKEN].map((token, at) => logProbability(row(at), token));
  return { tokens, logs, logits, cache };
}

/** Where a phrase may stand in a text, the likeliest beginnings first. */
function placesIn(text: ScoredText, phrases: WantedPhrases, tokenizer: Tokenizer): Place[] {
  const row = rowsOf(text.logits, text.tokens.length + 1);
  const places = text.tokens.flatMap((token, at): Place[] => {
    if (at > 0 && !tokenizer.beginsWord(token)) return [];
    const logits = row(at);
    const highest = logits.reduce((a, b) => Math.max(a, b));
    return [...phrases.forms].flatMap(([first, forms]) => {
      const behind = highest - (logits[first] ?? Number.NEGATIVE_INFINITY);
      if (behind > MOST_BEHIND) return [];
      const missing = forms.filter((form) => form.some((own, n) => own !== text.tokens[at + n]));
      return missing.map((form) => ({ at, form, behind }));
    });
  });
  return places.sort((a, b) => a.behind - b.behind);
}

/**
 * The text with a phrase in the place of as many words as suits what follows, and how likely the phrase
 * and the next token are. Undefined as soon as the phrase is too unlikely, or the budget is spent.
 */
async function* substituted(
  network: MoonshineNetwork,
  { encoded, tokenizer }: Rescored,
  budget: Budget,
  text: ScoredText,
  { at, form }: Place,
): AsyncGenerator<undefined, Substituted | undefined> {
  const { tokens } = text;
  const words = form.filter((token) => tokenizer.beginsWord(token)).length;
  const ends = wordEnds(tokens, at, tokenizer).slice(0, words + MOST_REPLACED_MORE);
  const replaced = ends.map((end) => ({ end, log: sum(text.logs.slice(at, end + 1)) }));
  const least = Math.min(...replaced.map(({ log }) => log)) - MOST_MENDED;
  let logits = rowsOf(text.logits, tokens.length + 1)(at);
  let cache = cutCache(text.cache, at + 1);
  let likelihood = PHRASE_BONUS + TOKEN_BONUS * form.length;
  for (const token of form) {
    likelihood += logProbability(logits, token);
    if (likelihood < least || budget.runs === 0) return undefined;
    budget.runs -= 1;
    ({ logits, cache } = await network.next(encoded, token, cache));
    yield;
  }
  const goesOn = replaced.map(({ end, log }) => {
    return { end, gain: logProbability(logits, tokens[end] ?? END_TOKEN) - log };
  });
  const { end, gain } = goesOn.reduce((a, b) => (b.gain > a.gain ? b : a));
  const changed = [...tokens.slice(0, at), ...form, ...tokens.slice(end)];
  return { tokens: changed, likelihood: likelihood + gain };
}

/** Where the words from `at` on end. */
function wordEnds(tokens: readonly number[], at: number, tokenizer: Tokenizer): number[] {
  const ends: number[] = [];
  for (let end = at + 1; end <= tokens.length; end++) {
    const next = tokens[end];
    if (next === undefined || tokenizer.beginsWord(next) || isMark(next, tokenizer)) ends.push(end);
  }
  return ends;
}

/** True for a full stop, a comma and the like, which are no part of the word before. */
function isMark(token: number, tokenizer: Tokenizer): boolean {
  return MARKS.test(tokenizer.decode([token]));
}

/** How likely a text is, with what its phrases add. */
function worth({ tokens, logs }: ScoredText, phrases: WantedPhrases, tokenizer: Tokenizer): number {
  const found = phrases.in(tokenizer.decode(tokens));
  return sum(logs) + PHRASE_BONUS * found.count + TOKEN_BONUS * found.tokens;
}

function nameOf({ tokens }: ScoredText, { at, form }: Place): string {
  return `${tokens.slice(0, at)} ${form}`;
}

function rowsOf(logits: Float32Array, count: number): (row: number) => Float32Array {
  const width = logits.length / count;
  return (row) => logits.subarray(row * width, (row + 1) * width);
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((a, b) => a + b, 0);
}
