import { isProperName } from "../../../src/language/proper-names.ts";
import { type CitedUtterance, Evidence, significantTokens } from "./evidence.ts";
import { findMoments } from "./moments.ts";
import { checkNegation } from "./negation.ts";
import { type Mention, People } from "./people.ts";
import { findQuantities, type Quantity } from "./quantities.ts";
import { type Token, toTokens } from "./tokens.ts";
import { objection, type Verdict } from "./verdict.ts";

/** Words with which somebody's speech is reported; who reads back finds none of them in it. */
const REPORTING: ReadonlySet<string> = new Set(
  `said says say told tell asked asks ask suggested suggests suggest proposed proposes thought thinks
   think believed believes explained explains explain mentioned mentions noted notes stated states
   added adds argued argues agreed agrees wanted wants replied replies answered answers pointed
   reported reports promised promises offered offers claimed claims recommended recommends`.split(
    /\s+/u,
  ),
);

/** Words of minutes about the conversation itself. */
const SAYS_LITTLE: ReadonlySet<string> = new Set(
  `meeting discussion discussed discuss group team participants participant speaker everybody
   everyone conversation however therefore moreover furthermore finally later firstly secondly
   besides mainly also addition`.split(/\s+/u),
);

/** A sentence of a note. */
interface NoteSentence {
  text: string;
  /** Who said it, where the note tells so beside the sentence. */
  speaker?: string | undefined;
  cited: readonly CitedUtterance[];
}

/** Share of the telling words of a sentence that its citations must hold. */
const BORNE_SHARE = 0.8;
/** So many of them in a row that were not said are refused whatever the share. */
const UNSAID_RUN = 2;
/** Share of what is borne that whoever is said to have said it must have said. */
const OWN_SHARE = 0.6;
/** How far from a number or name its neighbours in the sentence may stand in what is cited. */
const REACH = 8;
/** So many words on either side of a number or name in the sentence are its neighbours. */
const AROUND = 4;
/** After these a name may be the subject of a clause. */
const BEFORE_SUBJECT = new Set("and but while that then the because if when so".split(" "));

/**
 * Whether the utterances that a sentence cites bear it: its words, numbers, times and names, what it
 * denies, and who said it. Pure, for English; it compares words and understands nothing, so that a
 * sentence in other words than were spoken is refused too.
 *
 * @param speakers the names of all who spoke in the session
 */
export function checkSentence(sentence: NoteSentence, speakers: readonly string[]): Verdict {
  if (sentence.cited.length === 0) return objection("no_citation", "");
  const tokens = toTokens(sentence.text);
  const evidence = new Evidence(sentence.cited);
  const mentions = new People(speakers).find(tokens);
  return (
    checkNumbers(tokens, mentions, evidence) ??
    checkMoments(tokens, evidence) ??
    checkNames(tokens, mentions, evidence) ??
    checkSpeakers(sentence, tokens, mentions, evidence) ??
    checkWords(tokens, mentions, evidence) ??
    checkNegation(tokens, evidence) ?? { isBorne: true }
  );
}

function checkNumbers(
  tokens: readonly Token[],
  mentions: readonly Mention[],
  evidence: Evidence,
): Verdict | undefined {
  for (const quantity of findQuantities(tokens)) {
    // That of a label such as "S1" counts nothing.
    const isOfName = mentions.some(({ from, to }) => quantity.from >= from && quantity.to <= to);
    if (!isOfName && isCounted(tokens, quantity) && !isNumberBorne(tokens, quantity, evidence)) {
      return objection("number", textOf(tokens, quantity.from, quantity.to));
    }
  }
  return undefined;
}

/** False for "one" and "once", which mostly count nothing, and for "Speaker 1". */
function isCounted(tokens: readonly Token[], { value, from, unit }: Quantity): boolean {
  const word = tokens[from]?.word ?? "";
  if (word === "speaker" || tokens[from - 1]?.word === "speaker") return false;
  return !(value === 1 && unit === "" && !/^\p{N}/u.test(word)) && word !== "once";
}

function isNumberBorne(tokens: readonly Token[], asked: Quantity, evidence: Evidence): boolean {
  const around = neighbours(tokens, asked.from, asked.to, evidence);
  return evidence.passages.some(({ quantities }, passage) =>
    quantities.some(({ value, unit, from }) => {
      if (value !== asked.value) return false;
      if (asked.unit !== "" && unit !== "" && asked.unit !== unit) return false;
      return evidence.isBeside(around, { passage, at: from }, REACH);
    }),
  );
}

function checkMoments(tokens: readonly Token[], evidence: Evidence): Verdict | undefined {
  const missing = findMoments(tokens).find(({ key, at, to }) => {
    const around = neighbours(tokens, at, to, evidence);
    return !evidence.passages.some(({ moments }, passage) =>
      moments.some(
        (moment) =>
          moment.key === key && evidence.isBeside(around, { passage, at: moment.at }, REACH),
      ),
    );
  });
  return missing && objection("date", missing.key);
}

/** The telling words about a place in the sentence that were said at all. */
function neighbours(
  tokens: readonly Token[],
  from: number,
  to: number,
  evidence: Evidence,
): Token[] {
  const own = new Set(tokens.slice(from, to).map(({ stem }) => stem));
  const around = significantTokens(tokens, from - AROUND, to + AROUND);
  return evidence.known(around).filter(({ stem, word }) => !own.has(stem) && !/^\p{N}/u.test(word));
}

function checkNames(
  tokens: readonly Token[],
  mentions: readonly Mention[],
  evidence: Evidence,
): Verdict | undefined {
  const moments = new Set(findMoments(tokens).map(({ at }) => at));
  const isMention = (at: number) => mentions.some(({ from, to }) => at >= from && at < to);
  for (const [at, token] of tokens.entries()) {
    if (!isName(tokens, at) || moments.has(at) || isMention(at)) continue;
    if (!isNameBorne(tokens, at, evidence)) return objection("name", token.written);
  }
  return undefined;
}

function isName(tokens: readonly Token[], at: number): boolean {
  const { written = "", word = "", stem = "" } = tokens[at] ?? {};
  if (stem === "" || !/^\p{Lu}/u.test(written)) return false;
  return at > 0
    ? tokens[at - 1]?.clause === tokens[at]?.clause || isProperName(word)
    : isProperName(word);
}

/** True where the name was said, also letter by letter or in two words, or is one of who spoke. */
function isNameBorne(tokens: readonly Token[], at: number, evidence: Evidence): boolean {
  const token = tokens[at];
  if (token === undefined) return true;
  const places = evidence.find(token);
  const around = neighbours(tokens, at, at + 1, evidence);
  if (places.length > 0) return places.some((place) => evidence.isBeside(around, place, REACH));
  return evidence.passages.some(({ speaker, tokens }) => {
    if (toTokens(speaker).some(({ word }) => word === token.word)) return true;
    return tokens.some((_, at) => {
      let joined = "";
      for (let next = at; next < tokens.length && joined.length < token.word.length; next += 1) {
        joined += tokens[next]?.word ?? "";
      }
      return joined === token.word;
    });
  });
}

/** Who is said to have said or promised it did, or was named by who said it. */
function checkSpeakers(
  { speaker }: NoteSentence,
  tokens: readonly Token[],
  mentions: readonly Mention[],
  evidence: Evidence,
): Verdict | undefined {
  const subjects = mentions.filter(({ from, to }) => isSubject(tokens, from, to));
  for (const [at, { speaker: name, from, to }] of subjects.entries()) {
    const end = subjects[at + 1]?.from ?? tokens.length;
    // What somebody is to do may be said by others, who name them; not what they said themselves.
    const isSaid = REPORTING.has(tokens[to]?.word ?? "");
    if (!bears(name, ownTerms(from, end), evidence, !isSaid)) return objection("speaker", name);
  }
  if (speaker !== undefined && !bears(speaker, ownTerms(0, tokens.length), evidence, false)) {
    return objection("speaker", speaker);
  }
  const absent = mentions.find((mention) => !isPresent(mention.speaker, evidence));
  return absent && objection("name", absent.speaker);

  function ownTerms(from: number, to: number): Token[] {
    const inside = new Set(tokens.slice(from, to));
    return claimTerms(tokens, mentions).filter(
      (token) => inside.has(token) && evidence.find(token).length > 0,
    );
  }
}

/** True for a name that begins a clause and of which something is said: "…, and Ben will". */
function isSubject(tokens: readonly Token[], from: number, to: number): boolean {
  const before = tokens[from - 1];
  const isFirst = before === undefined || before.isLast || BEFORE_SUBJECT.has(before.word);
  return isFirst && tokens[to - 1]?.isLast === false;
}

function bears(
  name: string,
  claims: readonly Token[],
  evidence: Evidence,
  mayBeNamed: boolean,
): boolean {
  const own = evidence.passages.flatMap((passage, at) =>
    passage.speaker === name || (mayBeNamed && isNamedIn(name, passage.tokens)) ? [at] : [],
  );
  if (own.length === 0) return false;
  const borne = claims.filter((token) =>
    evidence.find(token).some(({ passage }) => own.includes(passage)),
  );
  return borne.length >= OWN_SHARE * claims.length;
}

function isPresent(name: string, { passages }: Evidence): boolean {
  return passages.some(({ speaker, tokens }) => speaker === name || isNamedIn(name, tokens));
}

function isNamedIn(name: string, tokens: readonly Token[]): boolean {
  return new People([name]).find(tokens).length > 0;
}

/** Most of the words must have been said, near one another; a few in a row that were not are more than was said. */
function checkWords(
  tokens: readonly Token[],
  mentions: readonly Mention[],
  evidence: Evidence,
): Verdict | undefined {
  const claims = claimTerms(tokens, mentions);
  const missing = claims.filter((token) => !isBorne(token, claims, evidence));
  const isUnsaid = (token: Token) => missing.includes(token);
  const hasRun = claims.some(
    (_, at) =>
      at + UNSAID_RUN <= claims.length && claims.slice(at, at + UNSAID_RUN).every(isUnsaid),
  );
  const borne = claims.length - missing.length;
  if (borne >= BORNE_SHARE * claims.length && !hasRun) return undefined;
  return objection("words", missing.map(({ written }) => written).join(" "));
}

/** The telling words but for names of speakers, what reports speech, and numbers, which are checked by themselves. */
function claimTerms(tokens: readonly Token[], mentions: readonly Mention[]): Token[] {
  const numbers = findQuantities(tokens).filter((quantity) => isCounted(tokens, quantity));
  return tokens.filter(({ stem, word }, at) => {
    if (stem === "" || REPORTING.has(word) || SAYS_LITTLE.has(word)) return false;
    return ![...mentions, ...numbers].some(({ from, to }) => at >= from && at < to);
  });
}

/** Words count as equal from so many equal letters at their beginning on: "decide", "decision". */
const SAME_LETTERS = 5;
/** How far in what is cited a word may stand from the next one of the same sentence. */
const TOGETHER = 15;

function isBorne(token: Token, claims: readonly Token[], evidence: Evidence): boolean {
  const others = claims.filter((other) => other.stem !== token.stem);
  const places = evidence.find(token);
  if (places.length > 0) {
    return others.length === 0 || places.some((place) => evidence.isNear(others, place, TOGETHER));
  }
  const start = token.word.slice(0, SAME_LETTERS);
  if (start.length < SAME_LETTERS) return false;
  return evidence.passages.some(({ tokens }) =>
    tokens.some(({ word, stem }) => stem !== "" && word.startsWith(start)),
  );
}

function textOf(tokens: readonly Token[], from: number, to: number): string {
  return tokens
    .slice(from, to)
    .map(({ written }) => written)
    .join(" ");
}
