/**
 * Everyday words of meetings that mean nearly the same, each in its dictionary form: the first of a
 * line may be said by the others. English.
 */
const ONE_WAY: readonly (readonly string[])[] = lines(`
expensive cost price
catering food meal drinks lunch
live open launch start online
paid pay free money salary fee
money dollars euros pounds budget
spend cost budget
deadline due until by
risk danger problem
staff employees colleagues
postpone delay defer
make produce manufacture build
cheap price cost
fashion trend style
fashionable trendy trend
`);

/** Words of which each may be said by any other of its line. */
const GROUPS: readonly (readonly string[])[] = lines(`
cost price expense expenses
launch open release start begin
finish end complete ready
buy purchase order
client customer
colour color
tv television telly
danger risk hazard
problem issue trouble difficulty
car vehicle
mister mr
doctor dr
repair fix mend
cancel drop abandon
hire employ recruit
boss manager chief
photo picture image
kid child
big large
small little tiny
fast quick
mistake error
screen display
mobile phone cellphone
email mail
shop store
lorry truck
holiday vacation
salary wage
firm company
recommend suggest advise
outdated old obsolete
modern trendy
ugly horrible
hate dislike
reject refuse
choose pick select
broken damaged
website site
beginner novice
questionnaire survey
percent percentage
produce manufacture make
production manufacturing
advantage benefit
drawback disadvantage
logo emblem
old elderly
`);

function lines(list: string): string[][] {
  return list
    .trim()
    .split("\n")
    .map((line) => line.split(" "));
}

const SYNONYMS = new Map<string, Set<string>>();

function add(word: string, others: readonly string[]): void {
  const known = SYNONYMS.get(word) ?? new Set();
  for (const other of others) if (other !== word) known.add(other);
  SYNONYMS.set(word, known);
}

for (const [word = "", ...others] of ONE_WAY) add(word, others);
for (const group of GROUPS) for (const word of group) add(word, group);

/** Words that may stand for one which was never said, of which the plural is also known. */
export function synonymsOf(word: string): readonly string[] {
  const lower = word.toLowerCase();
  const found = SYNONYMS.get(lower) ?? SYNONYMS.get(lower.replace(/(?<=\w{2})s$/, ""));
  return [...(found ?? [])];
}
