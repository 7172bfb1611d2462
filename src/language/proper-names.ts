import { z } from "zod";
import { compromise } from "./compromise.ts";

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

/** Kinds of names of several words that are hardly ever something else, as names of firms are. */
const PLACES = /^(City|Country|Demonym|Demonym,Plural|Region,ProperNoun)$/;
const ALSO_PLACES = ["european union", "united nations"];
/** Within a name these stay small. */
const SMALL_WITHIN = new Set("and au da de do of the".split(" "));

/** The part of the library's model that is used here. */
const modelOf = z.object({ one: z.object({ lexicon: z.record(z.string(), z.unknown()) }) });

let known: ReadonlySet<string> | undefined;
let places: ReadonlyMap<string, readonly string[][]> | undefined;

/**
 * True for a word, in small letters, that English writes with a capital wherever it stands: days,
 * months but March and May, first names, places, peoples. From compromise's lexicon, which takes
 * 0.3 s to load when it is first asked.
 */
export function isProperName(word: string): boolean {
  known ??= loadNames();
  return known.has(word);
}

/** The places of several words that begin with a word, in small letters: each as it is written, word by word. */
export function placesFrom(word: string): readonly string[][] {
  places ??= loadPlaces();
  return places.get(word) ?? [];
}

function loadPlaces(): ReadonlyMap<string, readonly string[][]> {
  const { one } = modelOf.parse(compromise().model());
  const found = Object.entries(one.lexicon).flatMap(([name, tags]) =>
    name.includes(" ") && PLACES.test(String(tags)) ? [name] : [],
  );
  const byFirst = new Map<string, string[][]>();
  for (const name of [...found, ...ALSO_PLACES]) {
    const words = name.split(" ");
    const written = words.map((word, at) =>
      at > 0 && SMALL_WITHIN.has(word) ? word : word.charAt(0).toUpperCase() + word.slice(1),
    );
    const alike = [...(byFirst.get(words[0] ?? "") ?? []), written];
    byFirst.set(
      words[0] ?? "",
      alike.sort((one, other) => other.length - one.length),
    );
  }
  return byFirst;
}

function loadNames(): ReadonlySet<string> {
  const names = new Set(ALSO);
  const { one } = modelOf.parse(compromise().model());
  for (const [word, tags] of Object.entries(one.lexicon)) {
    if (CAPITALISED.test(String(tags)) && !USUALLY_SMALL.has(word)) names.add(word);
  }
  return names;
}
