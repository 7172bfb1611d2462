import nlp from "compromise";
import { z } from "zod";

/** What the library's lexicon says of words that are written with a capital. */
const CAPITALISED =
  /^(MaleName|FemaleName|City|Country|Demonym|Demonym,Plural|WeekDay|Month|Place,ProperNoun|Region,ProperNoun|Organization|SportsTeam|ProperNoun)$/;
/** Words of those kinds that usually are something else. */
const USUALLY_SMALL = new Set(
  "amber audi clay devi don downtown ed kay lax mike polish stu turkey ups".split(" "),
);
/** Names of languages and feasts, which the lexicon lacks. */
const ALSO = new Set(
  "christmas easter english internet latin spanish sundays thanksgiving".split(" "),
);

/** The part of the library's model that is used here. */
const modelOf = z.object({ one: z.object({ lexicon: z.record(z.string(), z.unknown()) }) });

let known: ReadonlySet<string> | undefined;

/**
 * True for a word, in small letters, that English writes with a capital wherever it stands: days,
 * months but March and May, first names, places, peoples. From compromise's lexicon, which takes
 * 0.3 s to load when it is first asked.
 */
export function isProperName(word: string): boolean {
  known ??= loadNames();
  return known.has(word);
}

function loadNames(): ReadonlySet<string> {
  const names = new Set(ALSO);
  const { one } = modelOf.parse(nlp.model());
  for (const [word, tags] of Object.entries(one.lexicon)) {
    if (CAPITALISED.test(String(tags)) && !USUALLY_SMALL.has(word)) names.add(word);
  }
  return names;
}
