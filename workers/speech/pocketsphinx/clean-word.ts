/**
 * The word as people write it: without the mark of an alternative pronunciation, `to(2)`;
 * undefined for what is no word: `<s>`, `</s>`, `<sil>`, `[NOISE]`, `++UH++`.
 */
export function cleanWord(token: string): string | undefined {
  if (token === "" || /^[<[+]/.test(token)) return undefined;
  return token.replace(/\(\d+\)$/, "");
}
