/** Words of the asynchronous sources, and what the others have in their place. */
const WORDS: readonly [RegExp, string][] = [
  [/\basync (def|for|with)\b/g, "$1"],
  [/\bawait /g, ""],
  [/\bAsync(?=Api|Audio|File|Follower|Voice)/g, ""],
  [/\bAsync(Iterator|Iterable|Generator)\b/g, "$1"],
  [/\b__aiter__\b/g, "__iter__"],
  [/\b__aenter__\b/g, "__enter__"],
  [/\b__aexit__\b/g, "__exit__"],
  [/\bhttpx\.AsyncClient\b/g, "httpx.Client"],
  [/\baclose\b/g, "close"],
];

const HEAD = "# Made from the module of the same name in _async by `npm run client:python`.\n";

/** A module without `async`, of the one with it: the two do the same with other libraries below. */
export function synchronous(source: string): string {
  return HEAD + WORDS.reduce((text, [from, to]) => text.replaceAll(from, to), source);
}
