import { clockTime } from "../../../src/wire/clock-time.ts";
import { conversationName, listed, quoteSpeech, speakerName } from "./compose.ts";
import { isSaidBy, type Sentence } from "./document.ts";
import { frequency } from "./ranking.ts";
import type { Search } from "./search.ts";

/** An answer before it is encoded. */
export interface Draft {
  text: string;
  /** The sentences that support it, in order. */
  sentences: Sentence[];
}

const MAX_CITED = 5;
const MAX_LISTED = 10;

interface Mention {
  sentence: Sentence;
  count: number;
}

/**
 * All sentences that contain all words of the topic, or any where none contains all, with the
 * number of occurrences.
 */
function mentions(found: Search): Mention[] {
  const own = found.sentences.filter((sentence) => isSaidBy(sentence, found.question.voices));
  const counted = own.map((sentence) => {
    const counts = found.terms.map((term) => Math.round(frequency(term, sentence.terms)));
    return { sentence, all: Math.min(...counts), any: Math.max(0, ...counts) };
  });
  const together = counted.filter(({ all }) => all > 0 && Number.isFinite(all));
  const isTogether = together.length > 0;
  return (isTogether ? together : counted)
    .map(({ sentence, all, any }) => ({ sentence, count: isTogether ? all : any }))
    .filter(({ count }) => count > 0);
}

function nameOf({ conversations }: Search, sentence: Sentence): string {
  return speakerName(conversations[sentence.conversation], sentence.passage.label);
}

/** How often the topic was mentioned, and by whom; undefined when it never was. */
export function countMentions(found: Search): Draft | undefined {
  const all = mentions(found);
  const [first] = all;
  if (first === undefined) return undefined;
  const byName = new Map<string, number>();
  let total = 0;
  for (const { sentence, count } of all) {
    const name = nameOf(found, sentence);
    byName.set(name, (byName.get(name) ?? 0) + count);
    total += count;
  }
  const shares = [...byName]
    .sort((a, b) => b[1] - a[1])
    .slice(0, MAX_LISTED)
    .map(([name, count]) => `${name} ${count}`);
  const topic = found.terms.map((term) => term.word).join(" ");
  const at = clockTime(first.sentence.passage.startMs / 1_000);
  const text = `“${topic}” was mentioned ${times(total)} (${shares.join(", ")}), first at ${at}.`;
  return { text, sentences: all.slice(0, MAX_CITED).map(({ sentence }) => sentence) };
}

function times(count: number): string {
  return count === 1 ? "once" : count === 2 ? "twice" : `${count} times`;
}

/** Who spoke, and for which share of the time. */
export function describeVoices({ conversations, sentences }: Search): Draft | undefined {
  const spoken = new Map<string, { ms: number; first: Sentence }>();
  const seen = new Set<string>();
  let total = 0;
  for (const sentence of sentences) {
    const { segmentId, startMs, endMs, label } = sentence.passage;
    if (seen.has(segmentId)) continue;
    seen.add(segmentId);
    const name = speakerName(conversations[sentence.conversation], label);
    const known = spoken.get(name) ?? { ms: 0, first: sentence };
    spoken.set(name, { ...known, ms: known.ms + endMs - startMs });
    total += endMs - startMs;
  }
  if (spoken.size === 0) return undefined;
  const voices = [...spoken].sort((a, b) => b[1].ms - a[1].ms);
  const shares = voices
    .slice(0, MAX_LISTED)
    .map(([name, { ms }]) => `${name} (${Math.round((100 * ms) / Math.max(1, total))} %)`);
  const people = spoken.size === 1 ? "One person" : `${spoken.size} people`;
  return {
    text: `${people} spoke: ${listed(shares)} of the speaking time.`,
    sentences: voices.slice(0, MAX_CITED).map(([, { first }]) => first),
  };
}

/** The conversations of the sentences, each with its best sentence. */
export function listConversations(found: Search, best: readonly Sentence[]): Draft | undefined {
  const firsts = new Map<number, Sentence>();
  for (const sentence of best) {
    if (!firsts.has(sentence.conversation)) firsts.set(sentence.conversation, sentence);
  }
  if (firsts.size === 0) return undefined;
  const chosen = [...firsts].slice(0, MAX_LISTED);
  const lines = chosen.map(([index, sentence]) => {
    const conversation = found.conversations[index];
    const name = conversation === undefined ? "" : conversationName(conversation);
    const at = clockTime(sentence.passage.startMs / 1_000);
    return `${name}: ${nameOf(found, sentence)} said at ${at}: ${quoteSpeech(sentence.text, conversation?.language ?? "")}`;
  });
  const head =
    firsts.size === 1
      ? "One conversation speaks of that."
      : `${firsts.size} conversations speak of that.`;
  return { text: [head, ...lines].join("\n"), sentences: chosen.map(([, sentence]) => sentence) };
}

/** The speakers of the sentences, each once, in order. */
export function namesOf(found: Search, sentences: readonly Sentence[]): string[] {
  return [...new Set(sentences.map((sentence) => nameOf(found, sentence)))];
}
