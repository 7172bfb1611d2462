/**
 * Irregular English forms by their base form, so that "drew" and "broken" are found with "draw" and
 * "break". Forms that are also words of their own ("left", "saw", "rose", "felt") are left out.
 */
const GROUPS = `
become became
begin began begun
blow blew blown
break broke broken
bring brought
build built
buy bought
catch caught
choose chose chosen
deal dealt
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
give gave given
grow grew grown
hear heard
hide hid hidden
hold held
keep kept
know knew known
lead led
lend lent
lose lost
meet met
pay paid
ride rode ridden
ring rang rung
run ran
sell sold
send sent
shake shook shaken
shoot shot
show shown
shrink shrank shrunk
sing sang sung
sink sank sunk
sit sat
sleep slept
speak spoke spoken
spend spent
stand stood
steal stole stolen
stick stuck
swim swam swum
take took taken
teach taught
tear tore torn
think thought
throw threw thrown
understand understood
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
person people
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
