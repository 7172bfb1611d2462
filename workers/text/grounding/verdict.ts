/** Why a sentence is not borne by what it cites. */
type Objection = "no_citation" | "number" | "date" | "name" | "negation" | "speaker" | "words";

export type Verdict =
  | { isBorne: true }
  /** `detail`: the words of the sentence that nothing cited bears. */
  | { isBorne: false; objection: Objection; detail: string };

export function objection(kind: Objection, detail: string): Verdict {
  return { isBorne: false, objection: kind, detail };
}
