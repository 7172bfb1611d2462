import { isProperName } from "../../../src/language/proper-names.ts";
import { isQuestion, isTerminated } from "../../../src/language/sentences.ts";
import { toFluentSpeech } from "./fluent-speech.ts";

const OPENER =
  /^(?:(?:(?:hello|hi|good (?:morning|afternoon|evening))(?: (?:everyone|everybody|all))?|and|but|so|then|well|okay|ok|yeah|yes|oh|ah|um|uh|like|you know|i mean)[,\s]+)+/iu;
const FILLER = /(?:^|\s)(?:um|uh|uhm|erm|hmm|mm)(?=[\s,.?!]|$)[,]?/giu;
const REPEATED = /\b([\p{L}']+)((?:,? \1\b)+)/giu;
/**
 * Turns a spoken sentence into a written one: removes fillers, openers, stutters and repetitions, adds a
 * capital at its start and to proper names, and a full stop at its end. No word is added. The mark of
 * an unclear word, `[word?]`, does not end a sentence.
 */
export function polish(text: string, english: boolean): string {
  const spoken = english ? dropSpokenOnly(text) : text.trim().replace(REPEATED, "$1");
  const capital = capitalised(spoken);
  if (isTerminated(capital) && !capital.endsWith("?]")) return capital;
  const isAsking = english && isQuestion(spoken.split(" "));
  return capital.replace(/[,;:\s]+$/u, "") + (isAsking ? "?" : ".");
}

function capitalised(text: string): string {
  return text.replace(/^\[?./u, (first) => first.toLocaleUpperCase());
}

function dropSpokenOnly(text: string): string {
  const dropped = text
    .replace(FILLER, " ")
    .replace(/\s+/gu, " ")
    .replace(/\s+(?=[,.?!])/gu, "")
    .replace(/,(?=[,.?!])/gu, "")
    .trim();
  const fluent = toFluentSpeech(dropped);
  const opened = fluent.replace(OPENER, "");
  // A sentence that consists only of openers stays as it was.
  const kept = opened.split(" ").length < 3 ? fluent : opened;
  return (kept === "" ? text.trim() : kept)
    .replace(/\bi(?=$|[\s,.?!]|'(?:m|ll|ve|d)\b)/gu, "I")
    .replace(/\b[a-z]+\b/gu, (word) => (isProperName(word) ? capitalised(word) : word));
}
