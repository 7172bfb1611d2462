import { stemmer as danish } from "@orama/stemmers/danish";
import { stemmer as dutch } from "@orama/stemmers/dutch";
import { stemmer as finnish } from "@orama/stemmers/finnish";
import { stemmer as french } from "@orama/stemmers/french";
import { stemmer as german } from "@orama/stemmers/german";
import { stemmer as hungarian } from "@orama/stemmers/hungarian";
import { stemmer as italian } from "@orama/stemmers/italian";
import { stemmer as norwegian } from "@orama/stemmers/norwegian";
import { stemmer as portuguese } from "@orama/stemmers/portuguese";
import { stemmer as romanian } from "@orama/stemmers/romanian";
import { stemmer as russian } from "@orama/stemmers/russian";
import { stemmer as spanish } from "@orama/stemmers/spanish";
import { stemmer as swedish } from "@orama/stemmers/swedish";
import { stemmer as turkish } from "@orama/stemmers/turkish";
import { stopwords as danishStops } from "@orama/stopwords/danish";
import { stopwords as dutchStops } from "@orama/stopwords/dutch";
import { stopwords as finnishStops } from "@orama/stopwords/finnish";
import { stopwords as frenchStops } from "@orama/stopwords/french";
import { stopwords as germanStops } from "@orama/stopwords/german";
import { stopwords as hungarianStops } from "@orama/stopwords/hungarian";
import { stopwords as italianStops } from "@orama/stopwords/italian";
import { stopwords as norwegianStops } from "@orama/stopwords/norwegian";
import { stopwords as portugueseStops } from "@orama/stopwords/portuguese";
import { stopwords as romanianStops } from "@orama/stopwords/romanian";
import { stopwords as russianStops } from "@orama/stopwords/russian";
import { stopwords as spanishStops } from "@orama/stopwords/spanish";
import { stopwords as swedishStops } from "@orama/stopwords/swedish";
import { stopwords as turkishStops } from "@orama/stopwords/turkish";

/** What searching in a language needs. */
interface Dictionary {
  /** The Snowball stem of a word in lower case. */
  stem: (word: string) => string;
  /** Words without meaning of their own, and those that only ask. */
  stops: ReadonlySet<string>;
}

function dictionary(stem: (word: string) => string, stops: string[], asking: string): Dictionary {
  return { stem, stops: new Set([...stops, ...asking.split(" ")]) };
}

const NORWEGIAN = dictionary(
  norwegian,
  norwegianStops,
  "hvem hva når hvor hvorfor hvordan hvilken hvilket hvilke sa sagt sier",
);

const DICTIONARIES: Readonly<Record<string, Dictionary>> = {
  da: dictionary(
    danish,
    danishStops,
    "hvem hvad hvornår hvor hvorfor hvordan hvilken hvilket hvilke sagde sagt siger",
  ),
  nl: dictionary(
    dutch,
    dutchStops,
    "wie wat wanneer waar waarom hoe welke welk hoeveel zei gezegd zegt",
  ),
  fi: dictionary(
    finnish,
    finnishStops,
    "kuka mitä mikä milloin missä miksi miten kuinka ketkä sanoi sanottiin sanoa",
  ),
  fr: dictionary(
    french,
    frenchStops,
    "qui quoi que quand où pourquoi comment quel quelle quels quelles combien est-ce dit dire disait",
  ),
  de: dictionary(
    german,
    germanStops,
    "wer was wann wo warum wieso wie wem wen wessen viel viele wieviel welcher gesagt sagte sagen sagt gibt",
  ),
  hu: dictionary(
    hungarian,
    hungarianStops,
    "ki kik mi mit mikor hol miért hogyan mennyi hány melyik mondta mondott mondják",
  ),
  it: dictionary(
    italian,
    italianStops,
    "chi che cosa quando dove perché come quale quali quanto quanti quanta quante detto disse dire",
  ),
  nb: NORWEGIAN,
  nn: NORWEGIAN,
  no: NORWEGIAN,
  pt: dictionary(
    portuguese,
    portugueseStops,
    "quem que quando onde porque como qual quais quanto quantos quanta quantas disse dito dizer",
  ),
  ro: dictionary(
    romanian,
    romanianStops,
    "cine ce când unde cum care cât câți câte câtă spus zis spune",
  ),
  ru: dictionary(
    russian,
    russianStops,
    "кто что когда где почему как какой какая какие какое сколько кого кому сказал сказала сказали говорил",
  ),
  es: dictionary(
    spanish,
    spanishStops,
    "quién quiénes qué cuándo dónde cómo cuál cuáles cuánto cuántos cuánta cuántas dijo dicho decir dice",
  ),
  sv: dictionary(
    swedish,
    swedishStops,
    "vem vad när var varför hur vilken vilket vilka sade sagt säger sa",
  ),
  tr: dictionary(
    turkish,
    turkishStops,
    "kim ne neyi zaman nerede neden niçin nasıl hangi kaç dedi söyledi",
  ),
};

/** The dictionary of a BCP 47 tag by its language; undefined for English and where there is none. */
export function dictionaryOf(tag: string): Dictionary | undefined {
  const language = tag.toLowerCase().split("-")[0] ?? "";
  return Object.hasOwn(DICTIONARIES, language) ? DICTIONARIES[language] : undefined;
}
