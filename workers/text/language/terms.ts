import { stemmer } from "stemmer";

const WORD = /[\p{L}\p{N}]+(?:['’][\p{L}]+)*/gu;

const STOP_WORDS: ReadonlySet<string> = new Set(
  `a about above actually after again against all also am an and any anyway are aren't as at
  basically be because been before being below between both but by can can't cannot could couldn't
  did didn't do does doesn't doing don't down during each every everyone everybody everything few
  for from further get gets getting go goes going gonna got had hadn't has hasn't have haven't
  having he he'd he'll he's hello her here here's hers herself hey hi him himself his hmm how how's
  i i'd i'll i'm i've if in into is isn't it it'd it'll it's its itself just kind kinda know let
  let's like lot maybe me mean might mm mhm more most much mustn't my myself no nor not now of off
  oh ok okay on once one only or other ought our ours ourselves out over own perhaps please pretty
  quite really right said same say says see shall she she'd she'll she's should shouldn't so some
  something sort still such sure than thank thanks that that'll that's the their theirs them
  themselves then there there's these they they'd they'll they're they've thing things think this
  those though through to too uh uhm um under until up us very want was wasn't we we'd we'll we're
  we've well were weren't what what's when when's where where's which while who who's whom why
  why's will with won't would wouldn't yeah yep yes yet you you'd you'll you're you've your yours
  yourself yourselves`
    .split(/\s+/u)
    .filter((word) => word !== ""),
);

/** Words of a text in lower case, without punctuation. */
export function toWords(text: string): string[] {
  return (text.match(WORD) ?? []).map((word) => word.toLowerCase().replaceAll("’", "'"));
}

export function isStopWord(word: string): boolean {
  return STOP_WORDS.has(word);
}

/** The meaningful words: English ones as stems, those of other languages unchanged. */
export function toTerms(text: string, english: boolean): string[] {
  const words = toWords(text).filter((word) => word.length > 1 || /\p{N}/u.test(word));
  if (!english) return words.filter((word) => word.length > 2);
  return words.filter((word) => !isStopWord(word)).map((word) => stemmer(word));
}
