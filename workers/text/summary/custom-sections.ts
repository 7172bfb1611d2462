import type { Conversation } from "../../../src/wire/gen/voice/v1/retrieval.ts";
import type { SummaryItem } from "../../../src/wire/gen/voice/v1/text.ts";
import { sectionedText } from "../language/sectioned-text.ts";
import { bestOf, isCovered, search } from "../retrieval/search.ts";
import { type Pick, rankSentences, type SelectLimits, select } from "../retrieval/select.ts";
import type { SpokenText } from "./spoken-text.ts";
import { nothing, quote, type SummaryDraft } from "./summary-draft.ts";

/** Of each part of an instruction. */
const LIMITS: SelectLimits = { sentences: 3, words: 70, floor: 0.5 };

/**
 * What the workspace wants in its own words: the sentences that a search for each part of an instruction
 * finds; none where it finds that nobody spoke of it.
 */
export function* fillCustomSections(text: SpokenText): Generator<number, SummaryDraft> {
  const { sections, english } = text;
  if (sections.length === 0) return nothing("The template has no sections in words of its own.");
  const conversations = [conversationOf(text)];
  const items: SummaryItem[] = [];
  for (const [at, { title, instruction }] of sections.entries()) {
    const found = new Map<number, Pick>();
    for (const query of partsOf(instruction)) {
      const steps = search({ query, nowMs: 0, conversations });
      let step = steps.next();
      for (; step.done !== true; step = steps.next()) yield at / sections.length;
      const { value } = step;
      // A word that only looks like one that was said tells nothing here: nobody asked for it just now.
      if (value.isFuzzy || !isCovered(value)) continue;
      // Nor does a sentence without any of the words, which may answer a question right before it.
      const own = rankSentences(value).filter(({ sentence }) =>
        value.terms.some((term) => bestOf(term, sentence.terms) > 0),
      );
      for (const pick of select(own, LIMITS)) found.set(pick.index, pick);
    }
    const inOrder = [...found.values()].sort((a, b) => a.index - b.index);
    for (const { sentence } of inOrder) {
      const { passage, text: said } = sentence;
      const spoken = { segmentId: passage.segmentId, speaker: passage.label, text: said };
      items.push({ ...quote(spoken, english), section: title });
    }
  }
  return { text: sectionedText(sections, items), items };
}

/** What is looked for one by one: "what they need; which problem they have". */
function partsOf(instruction: string): string[] {
  return instruction.split(";").filter((part) => part.trim() !== "");
}

function conversationOf({ language, segments }: SpokenText): Conversation {
  const speakers = [...new Set(segments.map(({ speaker }) => speaker))];
  return {
    ...{ sessionId: "", title: "", language, startedAtMs: 0 },
    voices: speakers.map((name) => ({ label: name, name, isAsker: false })),
    passages: segments.map(({ id, speaker, startMs, endMs, text, unclear }) => ({
      ...{ segmentId: id, label: speaker, startMs, endMs, text, unclear },
    })),
  };
}
