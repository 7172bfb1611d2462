/** Everyday words of meetings that mean nearly the same, each in its dictionary form. English. */
const GROUPS: readonly (readonly string[])[] = `
expensive cost price
cost price expense expenses
catering food meal drinks lunch
live open launch start online
launch open release start
paid pay free money salary fee
pay paid free money
money dollars euros pounds budget
spend cost budget
deadline due until by
buy purchase order
client clients customer customers
colour color
tv television
danger risk hazard
risk danger problem
problem issue trouble
staff employees colleagues
car vehicle
begin start open
finish end complete ready
mister mr
doctor dr
repair fix
cancel drop abandon
postpone delay defer
hire employ recruit
boss manager chief
photo picture image
photos pictures images
`
  .trim()
  .split("\n")
  .map((line) => line.split(" "));

const SYNONYMS = new Map<string, string[]>();
for (const [word = "", ...others] of GROUPS) {
  SYNONYMS.set(word, [...(SYNONYMS.get(word) ?? []), ...others]);
}

/** Words that may stand for one which was never said. */
export function synonymsOf(word: string): readonly string[] {
  return SYNONYMS.get(word.toLowerCase()) ?? [];
}
