/** A spelling that a person put right in a line, as it may stand in others. */
export interface Correction {
  readonly from: string;
  readonly to: string;
}

/** Longer ones are sentences, which stand nowhere else. */
const MOST_WORDS = 4;
const SHORTEST = 2;

/**
 * The one run of words that differs between two versions of a line, without the marks around it.
 * Undefined when none does, when words were only added or taken away, or the run is long.
 */
export function correctionOf(before: string, after: string): Correction | undefined {
  const [old, now] = [wordsOf(before), wordsOf(after)];
  let first = 0;
  while (first < old.length && first < now.length && old[first] === now[first]) first += 1;
  let last = 0;
  const room = Math.min(old.length, now.length) - first;
  while (last < room && old.at(-1 - last) === now.at(-1 - last)) last += 1;
  const gone = old.slice(first, old.length - last);
  const come = now.slice(first, now.length - last);
  if (gone.length === 0 || come.length === 0) return undefined;
  if (Math.max(gone.length, come.length) > MOST_WORDS) return undefined;
  const [from, to] = [bare(gone.join(" ")), bare(come.join(" "))];
  const isWorth = from.length >= SHORTEST && to !== "" && from !== to;
  return isWorth ? { from, to } : undefined;
}

/**
 * The text with the correction wherever the old spelling stands as whole words; each keeps its
 * capitals. The same text when it stands nowhere.
 */
export function correct(text: string, { from, to }: Correction): string {
  // Where only the capitals were put right, only what has those is wrong.
  const isOfCapitals = from.toLowerCase() === to.toLowerCase();
  const words = from
    .split(" ")
    .map((word) => word.replaceAll(/[.*+?^${}()|[\]\\]/gu, "\\$&"))
    .join("\\s+");
  const whole = new RegExp(
    `(?<![\\p{L}\\p{N}])${words}(?![\\p{L}\\p{N}])`,
    isOfCapitals ? "gu" : "giu",
  );
  return text.replaceAll(whole, (found) => asWritten(found.replaceAll(/\s+/gu, " "), from, to));
}

/** The new spelling with the capitals of what stood there, where those are not as they were corrected. */
function asWritten(found: string, from: string, to: string): string {
  if (found === from) return to;
  if (found.length > 1 && found === found.toUpperCase()) return to.toUpperCase();
  if (found === found.toLowerCase()) return to.toLowerCase();
  const [head = ""] = found;
  return head === head.toUpperCase() ? `${to.slice(0, 1).toUpperCase()}${to.slice(1)}` : to;
}

function wordsOf(text: string): string[] {
  return text.split(/\s+/u).filter((word) => word !== "");
}

/** Without marks at either end, and without what shows whose something is. */
function bare(text: string): string {
  return text.replaceAll(/^[^\p{L}\p{N}]+|[^\p{L}\p{N}]+$/gu, "").replace(/['\u2019]s$/u, "");
}
