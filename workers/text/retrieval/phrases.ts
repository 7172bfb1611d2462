/** The sentences of an answer, in the language of what was said. */
interface Phrases {
  speaker: string;
  unknownSpeaker: string;
  /** Without `at` where the time is known from what stands before. */
  said: (name: string, at: string | undefined) => string;
  /** Joins another quotation of the same speaker. */
  and: (at: string) => string;
  nothing: string;
  /** As `nothing`, of several conversations. */
  nothingAcross: string;
}

const ENGLISH: Phrases = {
  speaker: "Speaker",
  unknownSpeaker: "An unknown speaker",
  ...timed("said", "at @", "and"),
  nothing: "I found nothing about that in this conversation.",
  nothingAcross: "I found nothing about that in these conversations.",
};

/** `place` has `@` for the time. */
function timed(said: string, place: string, and: string): Pick<Phrases, "said" | "and"> {
  const placeOf = (at: string | undefined): string => (at ? place.replace("@", at) : "");
  const joined = (...words: string[]): string => `${words.filter(Boolean).join(" ")}:`;
  return {
    said: (name, at) => joined(name, said, placeOf(at)),
    and: (at) => joined(and, placeOf(at)),
  };
}

function phrases(
  [speaker, unknownSpeaker]: [string, string],
  [said, place, and]: [string, string, string],
  [nothing, nothingAcross]: [string, string],
): Phrases {
  return {
    speaker,
    unknownSpeaker,
    ...timed(said, place, and),
    nothing,
    nothingAcross,
  };
}

const NORWEGIAN = phrases(
  ["Taler", "En ukjent taler"],
  ["sa", "ved @", "og"],
  ["Jeg fant ingenting om det i denne samtalen.", "Jeg fant ingenting om det i disse samtalene."],
);

const PHRASES: Readonly<Record<string, Phrases>> = {
  da: phrases(
    ["Taler", "En ukendt taler"],
    ["sagde", "ved @", "og"],
    ["Jeg fandt intet om det i denne samtale.", "Jeg fandt intet om det i disse samtaler."],
  ),
  de: phrases(
    ["Sprecher", "Eine unbekannte Stimme"],
    ["sagte", "bei @", "und"],
    [
      "Dazu habe ich in diesem Gespräch nichts gefunden.",
      "Dazu habe ich in diesen Gesprächen nichts gefunden.",
    ],
  ),
  es: phrases(
    ["Hablante", "Una voz desconocida"],
    ["dijo", "en @", "y"],
    [
      "No encontré nada sobre eso en esta conversación.",
      "No encontré nada sobre eso en estas conversaciones.",
    ],
  ),
  fi: phrases(
    ["Puhuja", "Tuntematon puhuja"],
    ["sanoi", "kohdassa @", "ja"],
    [
      "En löytänyt siitä mitään tästä keskustelusta.",
      "En löytänyt siitä mitään näistä keskusteluista.",
    ],
  ),
  fr: phrases(
    ["Locuteur", "Une voix inconnue"],
    ["a dit", "à @", "et"],
    [
      "Je n’ai rien trouvé à ce sujet dans cette conversation.",
      "Je n’ai rien trouvé à ce sujet dans ces conversations.",
    ],
  ),
  hu: phrases(
    ["Beszélő", "Egy ismeretlen beszélő"],
    ["", "(@)", "és"],
    [
      "Erről semmit sem találtam ebben a beszélgetésben.",
      "Erről semmit sem találtam ezekben a beszélgetésekben.",
    ],
  ),
  it: phrases(
    ["Parlante", "Una voce sconosciuta"],
    ["ha detto", "a @", "e"],
    [
      "Non ho trovato nulla al riguardo in questa conversazione.",
      "Non ho trovato nulla al riguardo in queste conversazioni.",
    ],
  ),
  nl: phrases(
    ["Spreker", "Een onbekende spreker"],
    ["zei", "op @", "en"],
    [
      "Ik heb daarover in dit gesprek niets gevonden.",
      "Ik heb daarover in deze gesprekken niets gevonden.",
    ],
  ),
  pt: phrases(
    ["Falante", "Uma voz desconhecida"],
    ["disse", "em @", "e"],
    [
      "Não encontrei nada sobre isso nesta conversa.",
      "Não encontrei nada sobre isso nestas conversas.",
    ],
  ),
  ro: phrases(
    ["Vorbitor", "O voce necunoscută"],
    ["a spus", "la @", "și"],
    [
      "Nu am găsit nimic despre asta în această conversație.",
      "Nu am găsit nimic despre asta în aceste conversații.",
    ],
  ),
  ru: phrases(
    ["Голос", "Неизвестный голос"],
    ["", "(@)", "и"],
    ["В этом разговоре об этом ничего не найдено.", "В этих разговорах об этом ничего не найдено."],
  ),
  sv: phrases(
    ["Talare", "En okänd talare"],
    ["sade", "vid @", "och"],
    ["Jag hittade inget om det i det här samtalet.", "Jag hittade inget om det i de här samtalen."],
  ),
  tr: phrases(
    ["Konuşmacı", "Bilinmeyen bir konuşmacı"],
    ["", "(@)", "ve"],
    [
      "Bu konuşmada bununla ilgili bir şey bulamadım.",
      "Bu konuşmalarda bununla ilgili bir şey bulamadım.",
    ],
  ),
  nb: NORWEGIAN,
  nn: NORWEGIAN,
  no: NORWEGIAN,
};

/** The phrases of a BCP 47 tag by its language; English ones where there are none. */
export function phrasesOf(tag: string): Phrases {
  const language = tag.toLowerCase().split("-")[0] ?? "";
  return (Object.hasOwn(PHRASES, language) ? PHRASES[language] : undefined) ?? ENGLISH;
}
