import { isSaidBy } from "./document.ts";
import { isWithin } from "./question-time.ts";
import { lengthsOf, type Search } from "./search.ts";
import { isQuestion, type Pick } from "./select.ts";

const DECIDED =
  /\b(we|they|i|everyone|the team|the group)(['’]ve| have)? (decided|agreed|settled|made (the|a|our) decision|chose|concluded)\b|\b(decision|agreed) (is|was|that|to)\b|\blet['’]?s (go with|do that|take)\b|\bwe(['’]ll| will| are going to|['’]re going to) (go with|use|take|keep|drop|start)\b/i;
const PROMISED =
  /\b(i|we|you|he|she|they)(['’]ll| will| shall| must| need to| have to| has to|['’]m going to|['’]re going to| am going to| are going to| should)\b(?! (see\b|talk about|discuss|look at))|\b(action item|to-?do|next step|follow up|by (monday|tuesday|wednesday|thursday|friday|saturday|sunday|tomorrow|the end of))\b/i;

const CUES = { decisions: DECIDED, actions: PROMISED } as const;

/** Sentences in which something was decided or promised, best first. */
export function rankCues(found: Search, kind: keyof typeof CUES): Pick[] {
  const cue = CUES[kind];
  return rankCentral(found)
    .filter(({ sentence }) => cue.test(sentence.clear) && !isQuestion(sentence.clear))
    .filter(({ sentence }) => sentence.length > 3);
}

/** Sentences by how much of what the whole conversation is about they hold, best first. */
export function rankCentral(found: Search): Pick[] {
  const { question, conversations, sentences } = found;
  const lengths = lengthsOf(conversations);
  const counts = new Map<string, number>();
  for (const { terms } of sentences) {
    for (const [term, count] of terms) counts.set(term, (counts.get(term) ?? 0) + count);
  }
  const { within } = question.times;
  const picks: Pick[] = [];
  for (const [index, sentence] of sentences.entries()) {
    const { passage, conversation, length } = sentence;
    if (!sentence.isQuotable || !isSaidBy(sentence, question.voices)) continue;
    const end = lengths[conversation] ?? 0;
    if (within && !isWithin(within, passage.startMs, passage.endMs, end)) continue;
    let weight = 0;
    for (const term of sentence.terms.keys()) weight += Math.log((counts.get(term) ?? 0) + 0.5);
    const score = Math.max(0, weight) / Math.sqrt(length + 4);
    picks.push({ sentence, index, score: isQuestion(sentence.clear) ? score / 2 : score });
  }
  return picks.sort((a, b) => b.score - a.score || a.index - b.index);
}
