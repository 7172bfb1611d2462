import { readFileSync } from "node:fs";
import { join } from "node:path";

/** Letters before and behind a letter that its context may hold. */
const MOST_LEFT = 3;
const MOST_RIGHT = 4;
const EDGE = "_";

/**
 * The contexts of a letter, from the letter alone to its widest one, each with one letter more; `_`
 * stands for the word's edge and `.` before the letter itself.
 */
export function letterContexts(word: string, at: number): string[] {
  const letter = word[at] ?? "";
  const padded = EDGE + word + EDGE;
  const contexts = [`.${letter}`];
  for (let left = 0, right = 0; left < MOST_LEFT || right < MOST_RIGHT; ) {
    // What follows a letter tells more of its sound than what is before it.
    if (right <= left && right < MOST_RIGHT) right += 1;
    else left += 1;
    const before = padded.slice(Math.max(0, at + 1 - left), at + 1);
    contexts.push(`${before}.${padded.slice(at + 1, at + 2 + right)}`);
  }
  return [...new Set(contexts)];
}

/** The sounds of letters in their contexts, as `letter-sounds.txt` tells them. */
export class LetterSounds {
  readonly #sounds: ReadonlyMap<string, string>;

  constructor(text: string) {
    this.#sounds = new Map(
      text
        .split("\n")
        .filter((line) => line !== "")
        .map((line) => {
          const end = line.indexOf(" ");
          return end < 0 ? [line, ""] : [line.slice(0, end), line.slice(end + 1)];
        }),
    );
  }

  /** The phones of a word of the letters a to z, in CMU's set of 39; of others none. */
  phones(word: string): string[] {
    return [...word].flatMap((_, at) => {
      const known = letterContexts(word, at).findLast((context) => this.#sounds.has(context));
      const sounds = known === undefined ? "" : (this.#sounds.get(known) ?? "");
      return sounds === "" ? [] : sounds.split(" ");
    });
  }
}

let loaded: LetterSounds | undefined;

/** The sounds that come with the service; read once, when a word is first asked for. */
export function letterSounds(): LetterSounds {
  loaded ??= new LetterSounds(readFileSync(join(import.meta.dirname, "letter-sounds.txt"), "utf8"));
  return loaded;
}
