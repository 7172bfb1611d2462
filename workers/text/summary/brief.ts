import { rankSentences } from "./centrality.ts";
import { selectSentences } from "./select.ts";
import type { SpokenText } from "./spoken-text.ts";
import { nothing, quote, type SummaryDraft } from "./summary-draft.ts";

/** Three to five sentences that say what the conversation is about. */
export function* summariseBriefly(text: SpokenText): Generator<number, SummaryDraft> {
  const { sentences, english } = text;
  const centrality = yield* rankSentences(sentences);
  const chosen = selectSentences(sentences, sizeOf(sentences.length), sentences.length, centrality);
  if (chosen.length === 0) return nothing("Nothing of substance was said.");
  const items = chosen.map((sentence) => quote(sentence, english));
  return { text: items.map((item) => item.text).join(" "), items };
}

function sizeOf(sentences: number): number {
  if (sentences < 30) return 3;
  return sentences < 120 ? 4 : 5;
}
