/** Names of people and things that the recogniser's dictionary lacks or hardly expects. */
export const NAMES: readonly string[] = [
  "Okonkwo",
  "Thandiwe",
  "Aurelio",
  "Quillfeather",
  "Brandvold",
  "Kubernetes",
  "Zanzotto",
  "Fennimore",
  "Halloran",
  "Marisol",
  "Venkatesh",
  "Drummossie",
  "Ottoline",
  "Grafana",
  "Lindqvist",
  "Terraform",
  "Abernathy",
  "Castellan",
  "Mirembe",
  "Rosencrantz",
  "Tolliver",
  "Wetherby",
  "Yolanda",
  "Pemberton",
  "Ibarra",
  "Sokolov",
  "Nakamura",
  "Delacroix",
  "Hutchins",
  "Kowalski",
];

/** Phrases of which no word is rare. */
export const PHRASES: readonly string[] = [
  "Morning Light",
  "Silver Fern",
  "Project Harbour",
  "The Hollow Crown",
];

/** Names that are in a list and never said. */
export const UNSAID: readonly string[] = [
  ..."Adebayo Alderton Antonelli Arkwright Bartosz Beaumont Bergstrom Blackwood Bogdanov Calloway".split(
    " ",
  ),
  ..."Cardew Carmichael Cavendish Chaudhary Cordelia Corwin Dagny Dalgaard Devereux Dragomir".split(
    " ",
  ),
  ..."Eastlake Eldridge Enrique Esposito Fairbanks Falkner Faraday Ferreira Fitzroy Galbraith".split(
    " ",
  ),
  ..."Garibaldi Giacomo Gottlieb Greenaway Gunnar Hadley Hargreaves Hathaway Hideki Holmgren".split(
    " ",
  ),
  ..."Ingrid Isolde Jankowski Jorgensen Kagame Karamazov Kensington Kirsten Kovacs Lafontaine".split(
    " ",
  ),
  ..."Langley Leopold Lockhart Ludmila Macready Malvern Marchetti Mbeki Mirabeau Montague".split(
    " ",
  ),
  ..."Nadezhda Nakagawa Nesbitt Novotny Odalys Olufemi Osterman Pacheco Petrov Pilgrim".split(" "),
];

const FRAMES: readonly ((one: string, other: string) => string)[] = [
  (one, other) => `I spoke with ${one} yesterday and she wants to see ${other} on Monday`,
  (one, other) => `the report about ${one} came from ${other} last week`,
  (one, other) => `please ask ${one} whether ${other} can come to the meeting`,
  (one, other) => `we moved the work on ${one} to the team of ${other}`,
  (one, other) => `nobody told ${one} that ${other} had already left the office`,
  (one, other) => `${one} said that the plan of ${other} is too expensive`,
];

/** Sentences in which every name and phrase is said twice, with different neighbours. */
export function plantedSentences(): string[] {
  const said = [...NAMES, ...PHRASES];
  return said.map((one, at) => {
    const other = said[(at + 7) % said.length] ?? one;
    return (FRAMES[at % FRAMES.length] ?? FRAMES[0])?.(one, other) ?? "";
  });
}
