import { type Evidence, significantTokens } from "./evidence.ts";
import type { Token } from "./tokens.ts";
import { objection, type Verdict } from "./verdict.ts";

/** So many telling words after a negation are taken to be denied. */
const SCOPE = 2;
/** So far before a word of its clause a negation may stand that denies it. */
const DENIED_WITHIN = 8;
/** So many words about a negation tell which place in what is cited is meant, and how near they stand there. */
const AROUND = 5;
const REACH = 8;
/** Words that deny without a negation. */
const DENIES =
  /^(?:un(?:able|likely|clear|certain|known|necessary)|impossible|refus\w*|reject\w*|fail\w*|avoid\w*|lack\w*|disagree\w*|against|instead|rather|few|rarely|seldom|barely|difficult|wrong|stop\w*|doubt\w*|deny|denied|without)$/u;

/**
 * The words of the sentence that what is cited denies, or the other way round; undefined where both
 * agree.
 */
export function checkNegation(tokens: readonly Token[], evidence: Evidence): Verdict | undefined {
  const detail = deniedAlone(tokens, evidence) ?? assertedAlone(tokens, evidence);
  return detail && objection("negation", detail.written);
}

/** A word that the sentence denies and nothing cited does. */
function deniedAlone(tokens: readonly Token[], evidence: Evidence): Token | undefined {
  for (const [at, token] of tokens.entries()) {
    if (!token.negates) continue;
    const scope = scopeOf(tokens, at).filter((word) => evidence.find(word).length > 0);
    const around = evidence.known(significantTokens(tokens, at - AROUND, at + AROUND));
    const isDenied = (word: Token) =>
      evidence
        .find(word)
        .some(
          (place) =>
            evidence.isBeside(around, place, REACH) &&
            isDeniedAt(tokensOf(evidence, place.passage), place.at),
        );
    if (scope.length === 0) {
      if (!evidence.passages.some(({ tokens: words }) => words.some(denies))) return token;
    } else if (!scope.some(isDenied)) return scope[0];
  }
  return undefined;
}

/** A word that the sentence asserts and that is denied wherever it is said. */
function assertedAlone(tokens: readonly Token[], evidence: Evidence): Token | undefined {
  return tokens.find((token, at) => {
    if (token.stem === "" || isDeniedAt(tokens, at)) return false;
    const places = evidence.find(token);
    return (
      places.length > 0 &&
      places.every(({ passage, at: place }) => {
        const words = tokensOf(evidence, passage);
        return negatorOf(words, place) !== undefined;
      })
    );
  });
}

function tokensOf({ passages }: Evidence, passage: number): readonly Token[] {
  return passages[passage]?.tokens ?? [];
}

function denies({ negates, word }: Token): boolean {
  return negates || DENIES.test(word);
}

/** The telling words after a negation, within its clause; the words before it where none come after. */
function scopeOf(tokens: readonly Token[], at: number): Token[] {
  const { clause } = tokens[at] ?? {};
  const own = tokens.flatMap((token, place) => (token.clause === clause ? [{ token, place }] : []));
  const after = own.filter(({ place, token }) => place > at && token.stem !== "");
  const before = own.filter(({ place, token }) => place < at && token.stem !== "");
  const chosen = after.length > 0 ? after.slice(0, SCOPE) : before.slice(-1);
  return chosen.map(({ token }) => token);
}

/** True where something in the clause before the place denies it, or it denies itself. */
function isDeniedAt(tokens: readonly Token[], at: number): boolean {
  const { clause } = tokens[at] ?? {};
  return tokens
    .slice(Math.max(0, at - DENIED_WITHIN), at + 1)
    .some((token) => token.clause === clause && denies(token));
}

/** The negation in whose narrow scope the place is. */
function negatorOf(tokens: readonly Token[], at: number): Token | undefined {
  const token = tokens[at];
  return tokens.find(
    ({ negates }, place) =>
      negates && token !== undefined && scopeOf(tokens, place).includes(token),
  );
}
