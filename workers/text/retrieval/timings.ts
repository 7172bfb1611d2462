import { clockTime } from "../../../src/wire/clock-time.ts";
import { speakerName } from "./compose.ts";
import { isSaidBy, type Sentence } from "./document.ts";
import { isWithin } from "./question-time.ts";
import { frequency } from "./ranking.ts";
import { lengthsOf, type Search } from "./search.ts";
import { type Draft, describeVoices } from "./tallies.ts";

const MAX_CITED = 5;

/** The first sentence of each utterance within the requested times, in order. */
function utterancesOf(found: Search): Sentence[] {
  const { within } = found.question.times;
  const lengths = lengthsOf(found.conversations);
  const seen = new Set<string>();
  return found.sentences.filter(({ conversation, passage }) => {
    const { segmentId, startMs, endMs } = passage;
    if (seen.has(segmentId)) return false;
    seen.add(segmentId);
    return within === undefined || isWithin(within, startMs, endMs, lengths[conversation] ?? 0);
  });
}

function nameOf({ conversations }: Search, sentence: Sentence): string {
  return speakerName(conversations[sentence.conversation], sentence.passage.label);
}

function sumOf(sentences: readonly Sentence[]): number {
  return sentences.reduce((sum, { passage }) => sum + passage.endMs - passage.startMs, 0);
}

/** A length as `3 min 20 s (200 seconds)`. */
function duration(ms: number): string {
  const seconds = Math.round(ms / 1_000);
  if (seconds < 60) return `${seconds} seconds`;
  const hours = Math.floor(seconds / 3_600);
  const minutes = Math.floor((seconds % 3_600) / 60);
  const rest = seconds % 60;
  const parts = [[hours, "h"] as const, [minutes, "min"] as const, [rest, "s"] as const];
  const written = parts.filter(([count]) => count > 0).map(([count, unit]) => `${count} ${unit}`);
  return `${written.join(" ")} (${seconds} seconds)`;
}

function utterances(count: number): string {
  return count === 1 ? "1 utterance" : `${count} utterances`;
}

function citedNote(count: number): string {
  return count > MAX_CITED ? `; the first ${MAX_CITED} are cited` : "";
}

/** How long the requested speakers spoke: the sum of their utterances' lengths. */
export function speakingTime(found: Search): Draft | undefined {
  const { voices } = found.question;
  if (voices.size === 0) return undefined;
  const all = utterancesOf(found);
  const own = all.filter((sentence) => isSaidBy(sentence, voices));
  const names = [...new Set(own.map((sentence) => nameOf(found, sentence)))];
  if (own.length === 0) return undefined;
  const ms = sumOf(own);
  const share = Math.round((100 * ms) / Math.max(1, sumOf(all)));
  return {
    text: `${names.join(" and ")} spoke for ${duration(ms)}: the sum of ${utterances(own.length)}, ${share} % of the speaking time${citedNote(own.length)}.`,
    sentences: own.slice(0, MAX_CITED),
  };
}

/** How long the conversation was: from its first word to its last one. */
export function conversationLength(found: Search): Draft | undefined {
  if (found.conversations.length !== 1) return undefined;
  const all = utterancesOf(found);
  const [first] = all;
  if (first === undefined) return undefined;
  const last = all.reduce((a, b) => (b.passage.endMs > a.passage.endMs ? b : a));
  const { startMs } = first.passage;
  const { endMs } = last.passage;
  return {
    text: `It lasted ${duration(endMs - startMs)}, from the first word at ${clockTime(startMs / 1_000)} to the last one at ${clockTime(endMs / 1_000)}.`,
    sentences: [first, last],
  };
}

/** How long a topic was spoken about: the utterances that mention it and those between two near ones. */
export function topicTime(found: Search): Draft | undefined {
  const spoken = utterancesOf(found);
  const mentioned = new Set<string>();
  for (const sentence of found.sentences) {
    if (found.terms.some((term) => frequency(term, sentence.terms) > 0)) {
      mentioned.add(sentence.passage.segmentId);
    }
  }
  const hits = spoken.flatMap(({ passage }, at) => (mentioned.has(passage.segmentId) ? [at] : []));
  const about = spoken.filter((sentence, at) => {
    if (!isSaidBy(sentence, found.question.voices)) return false;
    const before = hits.findLast((hit) => hit <= at);
    const after = hits.find((hit) => hit >= at);
    return before !== undefined && after !== undefined && after - before <= NEAR;
  });
  const [first] = about;
  const last = about.at(-1);
  if (first === undefined || last === undefined) return undefined;
  const topic = found.terms.map(({ word }) => word).join(" ");
  const cited = about.filter(({ passage }) => mentioned.has(passage.segmentId));
  return {
    text: `About ${duration(sumOf(about))}: the sum of ${utterances(about.length)} that mention “${topic}” or lie between two that do, from ${clockTime(first.passage.startMs / 1_000)} to ${clockTime(last.passage.endMs / 1_000)}.`,
    sentences: (cited.length > 0 ? cited : about).slice(0, MAX_CITED),
  };
}

/** Most utterances between two mentions that belong to the topic too. */
const NEAR = 6;

/** Who spoke the most or the least, with the shares of all. */
export function extremeSpeaker(found: Search, which: "most" | "least"): Draft | undefined {
  const draft = describeVoices(found);
  if (draft === undefined) return undefined;
  const byName = new Map<string, Sentence[]>();
  for (const sentence of utterancesOf(found)) {
    const name = nameOf(found, sentence);
    byName.set(name, [...(byName.get(name) ?? []), sentence]);
  }
  const ranked = [...byName].sort((a, b) => sumOf(b[1]) - sumOf(a[1]));
  const [name, own] = (which === "most" ? ranked[0] : ranked.at(-1)) ?? ["", []];
  const lead = `${name} spoke the ${which}: ${duration(sumOf(own))} in ${utterances(own.length)}.`;
  if (which === "most") return { text: `${draft.text} ${lead}`, sentences: draft.sentences };
  return { text: `${lead} ${draft.text}`, sentences: own.slice(0, MAX_CITED) };
}

/** Who spoke first or last. */
export function speakerAtEdge(found: Search, which: "first" | "last"): Sentence | undefined {
  const all = utterancesOf(found);
  return which === "first" ? all[0] : all.at(-1);
}
