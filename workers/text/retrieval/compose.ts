import { isEnglish } from "../../../src/language/english.ts";
import { clockTime } from "../../../src/wire/clock-time.ts";
import type { Conversation } from "../../../src/wire/gen/voice/v1/retrieval.ts";
import { polish } from "../language/polish.ts";
import type { Sentence } from "./document.ts";
import { phrasesOf } from "./phrases.ts";

/** The name of a speaker in an answer. */
export function speakerName(conversation: Conversation | undefined, label: string): string {
  const name = conversation?.voices.find((voice) => voice.label === label)?.name ?? "";
  if (name !== "") return name;
  const number = /^S(\d+)$/.exec(label)?.[1];
  const { speaker, unknownSpeaker } = phrasesOf(conversation?.language ?? "");
  return number === undefined ? unknownSpeaker : `${speaker} ${number}`;
}

/** The name of a conversation in an answer: its title and day. */
export function conversationName({ title, startedAtMs }: Conversation): string {
  const day = new Date(startedAtMs).toISOString().slice(0, 10);
  return title.trim() === "" ? `the conversation of ${day}` : `“${title.trim()}” (${day})`;
}

/** The sentences in order, under their conversations, each with its speaker and time. */
export function quoteAll(
  sentences: readonly Sentence[],
  conversations: readonly Conversation[],
  across: boolean,
): string {
  const parts: string[] = [];
  let at = 0;
  while (at < sentences.length) {
    const conversation = sentences[at]?.conversation;
    const next = sentences.findIndex(
      (other, index) => index > at && other.conversation !== conversation,
    );
    const end = next === -1 ? sentences.length : next;
    parts.push(quoteOne(sentences.slice(at, end), conversations, across));
    at = end;
  }
  return parts.join("\n");
}

/** What is said within so many milliseconds of a time that is told has none of its own. */
const TIME_HOLDS_MS = 60_000;

function quoteOne(
  sentences: readonly Sentence[],
  conversations: readonly Conversation[],
  across: boolean,
): string {
  const conversation = conversations[sentences[0]?.conversation ?? 0];
  const { and, said } = phrasesOf(conversation?.language ?? "");
  let toldMs: number | undefined;
  const quotes = sentences.map(({ passage, text }, index) => {
    const before = sentences[index - 1]?.passage;
    const quote = quoteSpeech(text, conversation?.language ?? "");
    const isTold = toldMs !== undefined && Math.abs(passage.startMs - toldMs) < TIME_HOLDS_MS;
    if (!isTold) toldMs = passage.startMs;
    const at = isTold ? undefined : clockTime(passage.startMs / 1_000);
    if (before?.label !== passage.label) {
      return `${said(speakerName(conversation, passage.label), at)} ${quote}`;
    }
    return at === undefined || before.segmentId === passage.segmentId
      ? quote
      : `${and(at)} ${quote}`;
  });
  const lead = across && conversation !== undefined ? `In ${conversationName(conversation)}: ` : "";
  return lead + quotes.join(" ");
}

/** A quotation without fillers and stutters; the cited passage has every word. */
export function quoteSpeech(text: string, language: string): string {
  return `“${polish(text, isEnglish(language))}”`;
}

/** Joins items as `a`, `a and b`, or `a, b and c`. */
export function listed(items: readonly string[]): string {
  if (items.length < 2) return items.join("");
  return `${items.slice(0, -1).join(", ")} and ${items.at(-1)}`;
}
