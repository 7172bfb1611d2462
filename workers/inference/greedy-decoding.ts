import {
  cutCache,
  type DecoderStep,
  type EncodedSound,
  type MoonshineNetwork,
} from "./moonshine-network.ts";
import { logProbability } from "./softmax.ts";
import { BEGIN_TOKEN, END_TOKEN } from "./tokenizer.ts";

/** Nobody says more tokens in a second; who needs more is in a loop. */
const TOKENS_PER_SECOND = 6.5;
/** For very short sound, in which a word may have many tokens. */
const LEAST_TOKENS = 8;
const SAMPLES_PER_SECOND = 16_000;
/** An agreed token gives way to one that is so many times as likely, now that more is heard. */
const FAR_LIKELIER = 3;

/** What to read of a piece of sound. */
interface DecodingRequest {
  encoded: EncodedSound;
  /** The sound's length, samples at 16 kHz. */
  samples: number;
  /** First tokens that are taken unless another one is far likelier. */
  agreed: readonly number[];
  /** Tokens that probably come next; they are taken as far as they would be chosen. */
  draft: readonly number[];
}

export interface Decoding {
  tokens: number[];
  /** Probability of each token. */
  probabilities: number[];
  /** True when it was stopped because it would not end by itself. */
  isEndless: boolean;
}

/**
 * Chooses the likeliest token after token. Yields after each run of a network, so that other work
 * of the thread may go before.
 */
export async function* decodeGreedily(
  network: MoonshineNetwork,
  { encoded, samples, agreed, draft }: DecodingRequest,
): AsyncGenerator<undefined, Decoding> {
  const seconds = samples / SAMPLES_PER_SECOND;
  const most = Math.max(LEAST_TOKENS, Math.ceil(seconds * TOKENS_PER_SECOND));
  const given = [...agreed, ...draft].slice(0, most);
  const begun = await network.begin(encoded, [BEGIN_TOKEN, ...given]);
  yield;
  const taken: Decoding = { tokens: [], probabilities: [], isEndless: false };
  let step = takeGiven(begun, given, agreed.length, taken);
  while (step !== undefined && taken.tokens.length < most) {
    step = await goOn(network, encoded, step, taken);
    yield;
  }
  taken.isEndless = step !== undefined;
  return taken;
}

/** A step whose last row of logits decides about the next token; undefined: the text has ended. */
type OpenStep = { step: DecoderStep; token: number } | undefined;

/**
 * Takes the agreed tokens as long as none is far likelier, then those of the draft that are the
 * likeliest themselves. All are checked in the same run of the network.
 */
function takeGiven(
  step: DecoderStep,
  given: readonly number[],
  agreed: number,
  taken: Decoding,
): OpenStep {
  const width = step.logits.length / (given.length + 1);
  for (let at = 0; at <= given.length; at++) {
    const row = step.logits.subarray(at * width, (at + 1) * width);
    const wanted = given[at];
    const { token, probability } = choose(row);
    if (wanted !== undefined && at < agreed) {
      const own = probabilityOf(row, wanted);
      if (probability <= FAR_LIKELIER * own) {
        take(taken, wanted, own);
        continue;
      }
    }
    if (token === END_TOKEN) return undefined;
    take(taken, token, probability);
    if (token === wanted) continue;
    return { step: { ...step, cache: cutCache(step.cache, at + 1) }, token };
  }
  return undefined;
}

async function goOn(
  network: MoonshineNetwork,
  encoded: EncodedSound,
  { step: { cache }, token: last }: NonNullable<OpenStep>,
  taken: Decoding,
): Promise<OpenStep> {
  const step = await network.next(encoded, last, cache);
  const { token, probability } = choose(step.logits);
  if (token === END_TOKEN) return undefined;
  take(taken, token, probability);
  return { step, token };
}

function take(taken: Decoding, token: number, probability: number): void {
  taken.tokens.push(token);
  taken.probabilities.push(probability);
}

function choose(logits: Float32Array): { token: number; probability: number } {
  const token = highest(logits);
  return { token, probability: probabilityOf(logits, token) };
}

function highest(logits: Float32Array): number {
  let best = 0;
  for (let i = 1; i < logits.length; i++) {
    if ((logits[i] as number) > (logits[best] as number)) best = i;
  }
  return best;
}

function probabilityOf(logits: Float32Array, token: number): number {
  return Math.exp(logProbability(logits, token));
}
