import { SESSION_RATE } from "../../../src/base/audio/sample-rate.ts";
import type { RecognisedWord } from "../recogniser.ts";
import { spreadWords } from "../spread-words.ts";

/** What an utterance's request is about; samples of the session's timeline. */
interface Place {
  start: number;
  end: number;
}

interface Segment {
  start: number;
  end: number;
  text: string;
  avgLogprob: number | undefined;
  noSpeechProb: number | undefined;
}

interface TimedWord {
  word: string;
  start: number;
  end: number;
  probability: number | undefined;
}

/** Thrown for an answer that is none: half of one, or other JSON. Worth another try. */
export class AnswerError extends Error {
  readonly code = "transcription_answer";
}

/**
 * A segment is no speech when the model says so and is unsure of its words: the rule and the bounds
 * of Whisper's own decoder (`no_speech_threshold`, `logprob_threshold`).
 */
const NO_SPEECH = 0.6;
const UNSURE = -1;
/** Of words for which the server tells no confidence. */
const UNTOLD = 0;

/**
 * The words in an answer of `/v1/audio/transcriptions`: `verbose_json` with words or segments,
 * `json` with text only, or plain text. Throws AnswerError for anything else.
 */
export function wordsOfAnswer(body: string, isJson: boolean, place: Place): RecognisedWord[] {
  if (!isJson) return spreadWords(body, place.start, place.end, UNTOLD);
  const answer = parse(body);
  if (typeof answer.text !== "string") throw new AnswerError("its answer has no text");
  const segments = segmentsOf(answer.segments);
  const kept = segments.filter((segment) => !isNoSpeech(segment));
  const words = timedWordsOf(answer.words);
  if (words.length > 0) return timed(words, answer.text, segments, kept, place);
  if (segments.length > 0) {
    return kept.flatMap(({ text, start, end, avgLogprob }) => {
      const span = within(place, start, end);
      return spreadWords(text, span.start, span.end, confidenceOf(avgLogprob));
    });
  }
  return spreadWords(answer.text, place.start, place.end, UNTOLD);
}

function parse(body: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(body);
    if (typeof value === "object" && value !== null) return value as Record<string, unknown>;
  } catch (cause) {
    throw new AnswerError("its answer is no whole JSON", { cause });
  }
  throw new AnswerError("its answer is no JSON object");
}

function segmentsOf(value: unknown): Segment[] {
  if (!Array.isArray(value)) return [];
  return value.flatMap((each: unknown) => {
    const { start, end, text, avg_logprob, no_speech_prob } = fieldsOf(each);
    if (!isNumber(start) || !isNumber(end) || typeof text !== "string") return [];
    const [avgLogprob, noSpeechProb] = [numberOf(avg_logprob), numberOf(no_speech_prob)];
    return [{ start, end, text, avgLogprob, noSpeechProb }];
  });
}

function timedWordsOf(value: unknown): TimedWord[] {
  if (!Array.isArray(value)) return [];
  return value.flatMap((each: unknown) => {
    const { word, start, end, probability } = fieldsOf(each);
    if (!isNumber(start) || !isNumber(end) || typeof word !== "string") return [];
    const text = word.trim();
    return text === "" ? [] : [{ word: text, start, end, probability: numberOf(probability) }];
  });
}

/** Words with times; of the text, which has capitals and marks, as long as both agree. */
function timed(
  words: readonly TimedWord[],
  text: string,
  segments: readonly Segment[],
  kept: readonly Segment[],
  place: Place,
): RecognisedWord[] {
  const written = text.split(/\s+/u).filter((each) => each !== "");
  const isSame = written.length === words.length;
  return words.flatMap(({ word, start, end, probability }, at) => {
    const middle = (start + end) / 2;
    const segment = segments.find((each) => middle >= each.start && middle <= each.end);
    if (segment !== undefined && !kept.includes(segment)) return [];
    const span = within(place, start, end);
    const confidence = probability ?? confidenceOf(segment?.avgLogprob);
    return [{ text: (isSame ? written[at] : undefined) ?? word, ...span, confidence }];
  });
}

function isNoSpeech({ noSpeechProb, avgLogprob }: Segment): boolean {
  if (noSpeechProb === undefined || avgLogprob === undefined) return false;
  return noSpeechProb > NO_SPEECH && avgLogprob < UNSURE;
}

/** The mean probability of a segment's tokens, geometrically. */
function confidenceOf(avgLogprob: number | undefined): number {
  return avgLogprob === undefined ? UNTOLD : Math.min(1, Math.exp(avgLogprob));
}

/** Seconds of the utterance on the timeline, cut to the utterance. */
function within({ start, end }: Place, from: number, to: number): Place {
  const at = (seconds: number): number =>
    Math.max(start, Math.min(end, start + Math.round(seconds * SESSION_RATE)));
  return { start: at(from), end: Math.max(at(from), at(to)) };
}

function fieldsOf(value: unknown): Record<string, unknown> {
  return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : {};
}

function isNumber(value: unknown): value is number {
  return typeof value === "number" && Number.isFinite(value);
}

function numberOf(value: unknown): number | undefined {
  return isNumber(value) ? value : undefined;
}
