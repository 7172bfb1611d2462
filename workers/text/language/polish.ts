import { isQuestion, isTerminated } from "../../../src/language/sentences.ts";

const OPENER =
  /^(?:(?:(?:hello|hi|good (?:morning|afternoon|evening))(?: (?:everyone|everybody|all))?|and|but|so|then|well|okay|ok|yeah|yes|um|uh|like|you know|i mean)[,\s]+)+/iu;
const FILLER = /(?:^|\s)(?:um|uh|uhm|erm|hmm)(?=[\s,.?!]|$)[,]?/giu;
const DAYS_AND_MONTHS =
  /\b(?:monday|tuesday|wednesday|thursday|friday|saturday|sunday|january|february|april|june|july|august|september|october|november|december)\b/gu;

/**
 * Turns a spoken sentence into a written one: removes fillers and openers, adds a capital at its
 * start and a full stop at its end. No word is added. The mark of an unclear word, `[word?]`, does
 * not end a sentence.
 */
export function polish(text: string, english: boolean): string {
  const spoken = english ? dropSpokenOnly(text) : text.trim();
  const capital = spoken.charAt(0).toLocaleUpperCase() + spoken.slice(1);
  if (isTerminated(capital) && !capital.endsWith("?]")) return capital;
  const isAsking = english && isQuestion(spoken.split(" "));
  return capital.replace(/[,;:\s]+$/u, "") + (isAsking ? "?" : ".");
}

function dropSpokenOnly(text: string): string {
  const dropped = text.replace(FILLER, " ").replace(/\s+/gu, " ").trim();
  const opened = dropped.replace(OPENER, "");
  // A sentence that consists only of openers stays as it was.
  const kept = opened.split(" ").length < 3 ? dropped : opened;
  return (kept === "" ? text.trim() : kept)
    .replace(/\bi(?=$|[\s,.?!]|'(?:m|ll|ve|d)\b)/gu, "I")
    .replace(DAYS_AND_MONTHS, (word) => word.charAt(0).toUpperCase() + word.slice(1));
}
