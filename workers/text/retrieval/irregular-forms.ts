/**
 * Irregular English forms by their base form, so that "drew" and "broken" are found with "draw" and
 * "break". Verbs that any sentence may have are left out, as they tell no topic; so are forms that
 * are also words of their own ("left", "saw", "rose", "felt", "LED").
 */
const GROUPS = `
blow blew blown
break broke broken
build built
buy bought
catch caught
choose chose chosen
draw drew drawn
drink drank drunk
drive drove driven
eat ate eaten
fall fallen
feed fed
fight fought
fly flew flown
forget forgot forgotten
freeze froze frozen
grow grew grown
hide hid hidden
lend lent
lose lost
pay paid
ride rode ridden
ring rang rung
sell sold
send sent
shake shook shaken
shoot shot
shrink shrank shrunk
sing sang sung
sink sank sunk
sleep slept
spend spent
steal stole stolen
stick stuck
swim swam swum
teach taught
tear tore torn
throw threw thrown
wake woke woken
wear wore worn
win won
write wrote written
child children
foot feet
goose geese
half halves
knife knives
leaf leaves
life lives
man men
mouse mice
tooth teeth
wife wives
woman women
`;

const BASES = new Map(
  GROUPS.trim()
    .split("\n")
    .flatMap((line) => {
      const [base = "", ...forms] = line.split(" ");
      return forms.map((form): [string, string] => [form, base]);
    }),
);

/** The base form of an irregular English form in lower case; any other word as it is. */
export function baseForm(word: string): string {
  return BASES.get(word) ?? word;
}
