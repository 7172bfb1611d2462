import type { Answer } from "../../src/wire/gen/voice/v1/retrieval.ts";

/** A question with what a right answer has. */
export interface PlainQuestion {
  id: string;
  source: string;
  kind: string;
  /** Null where only its existence is known. */
  question: string | null;
  accept: {
    /** One of these is in the answer; none: the evidence alone decides. */
    anyOf: string[];
    /** Places, from 0, of the utterances that bear it; one of them is cited. */
    evidence: number[];
    /** True when nothing in the conversation bears an answer. */
    refuse: boolean;
    number?: number;
    tolerance?: number;
  };
}

export interface Verdict {
  isRight: boolean;
  /** Right, and the first sentence alone says it. */
  isFirst: boolean;
  why: string;
}

/** Judges an answer by rule, strictly: it says what is accepted and cites what bears it. */
export function judgeAnswer({ accept }: PlainQuestion, { text, citations }: Answer): Verdict {
  if (accept.refuse || citations.length === 0) {
    const isRight = accept.refuse && citations.length === 0;
    return { isRight, isFirst: isRight, why: accept.refuse ? "not refused" : "refused" };
  }
  const cites = citations.some(({ segmentId }) => accept.evidence.includes(Number(segmentId)));
  if (accept.evidence.length > 0 && !cites) return wrong("cites none of the evidence");
  if (!says(text, accept)) return wrong(`says none of ${accept.anyOf.join(" | ")}`);
  return { isRight: true, isFirst: says(firstOf(text), accept), why: "" };
}

function wrong(why: string): Verdict {
  return { isRight: false, isFirst: false, why };
}

function says(text: string, { anyOf, number, tolerance = 0 }: PlainQuestion["accept"]): boolean {
  if (anyOf.length === 0 && number === undefined) return true;
  const folded = ` ${fold(text)} `;
  if (anyOf.some((accepted) => folded.includes(` ${fold(accepted)} `))) return true;
  if (number === undefined) return false;
  const numbers = text.replace(/(\d),(?=\d{3})/g, "$1").match(/\d+(?:\.\d+)?/g) ?? [];
  return numbers.some((each) => Math.abs(Number(each) - number) <= tolerance);
}

/** The answer up to the end of its first sentence or first quotation. */
function firstOf(text: string): string {
  return /^.*?[.?!]”?(?=\s|$)/su.exec(text)?.[0] ?? text;
}

function fold(text: string): string {
  return text
    .normalize("NFKD")
    .toLowerCase()
    .replace(/['’]/g, "")
    .replace(/[^\p{L}\p{N}]+/gu, " ")
    .trim();
}
