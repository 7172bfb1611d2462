function words(list: string): string[] {
  return list.split(/\s+/).filter((word) => word !== "");
}

/** English words without meaning of their own, and noises of speech. */
export const STOP_WORDS: ReadonlySet<string> = new Set(
  words(`
  a about above after again against all also am an and any anyway are arent as at be because been
  before being below between both but by can cant cannot could couldnt did didnt do does doesnt
  doing dont down during each either else even ever every few for from further get gets getting go
  goes going gonna got had hadnt has hasnt have havent having he hed hell her here hers herself him
  himself his how i id if ill im in into is isnt it itd itll its itself ive just kind know let lets
  like lot lots make me mean might more most much must my myself no nor not now of off oh ok okay on
  once one only or other our ours out over own perhaps please put quite rather really right said
  same say says shall she shed should shouldnt so some something sort still such sure than that
  thats the their theirs them then there theres these they theyd theyll theyre theyve thing things
  this those though through to too under until up us very want wanna was wasnt way we wed well were
  weve werent what whatever whats when where which while who whom whose why will with wont would
  wouldnt yeah yep yes yet you youd youll your youre yours youve
  ah eh er erm hm hmm huh mhm mm mmhmm uh uhhuh um uhm
`),
);

/**
 * Words that questions consist of and that name no topic. All forms are listed, because they are
 * not stemmed.
 */
export const QUESTION_WORDS: ReadonlySet<string> = new Set(
  words(`
  tell told give given summarize summarise summary overview discuss discussed discusses discussing
  discussion discussions talk talked talking talks speak spoke spoken speaking say said saying says
  mention mentioned mentions mentioning think thinks thought thoughts opinion opinions view views
  attitude attitudes idea ideas describe described explain explained explains explaining conclude
  concluded conclusion decide decided decides decision decisions agree agreed agreement group team
  meeting meetings conversation conversations session sessions call calls recording recordings
  transcript people person anyone anybody someone somebody everyone everybody participants
  participant speaker speakers content contents point points topic topics subject come came
  according regarding concerning related relation relating feel felt feelings ask asked asking
  answer answered happen happened state stated suggest suggested suggestion propose proposed
  whole entire detail details main between many often time times long recommend recommended
  consider considered believe believed argue argued respond responded response reply reason
  reasons elaborate elaborated elaborates elaborating disagree disagreed disagrees contribute
  contributed forward mainly members member mates whether review reflect reflecting introduce
  introduced introducing present presented presenting during exactly ever anything everything nothing find found use used using
  made makes making
`),
);

/** Number words, so that "2 March" matches "the second of March". */
export const NUMBER_WORDS: ReadonlyMap<string, string> = new Map(
  words(`
  two:2 three:3 four:4 five:5 six:6 seven:7 eight:8 nine:9 ten:10 eleven:11 twelve:12 thirteen:13
  fourteen:14 fifteen:15 sixteen:16 seventeen:17 eighteen:18 nineteen:19 twenty:20 thirty:30
  forty:40 fifty:50 sixty:60 seventy:70 eighty:80 ninety:90 hundred:100 thousand:1000 first:1
  second:2 third:3 fourth:4 fifth:5 1st:1 2nd:2 3rd:3 4th:4 5th:5
`).map((pair): [string, string] => {
    const [word = "", number = ""] = pair.split(":");
    return [word, number];
  }),
);
