import { readFileSync } from "node:fs";

/** Begins and ends every text. */
export const BEGIN_TOKEN = 1;
export const END_TOKEN = 2;
/** These tokens are single bytes, from 0 on. */
const FIRST_BYTE_TOKEN = 3;
const BYTES = 256;
/** U+2581, which stands for a blank. */
const BLANK = "\u2581";

/**
 * The tokens of Moonshine's tiny model: byte-pair encoding with a mark for blanks, where the pair
 * whose joint token has the lowest number is joined first.
 */
export class Tokenizer {
  readonly #pieces: readonly Buffer[];
  readonly #numbers = new Map<string, number>();

  /** Reads `tokenizer.bin`. Throws RangeError for a file that is cut off. */
  static load(path: string): Tokenizer {
    return new Tokenizer(readPieces(readFileSync(path)));
  }

  private constructor(pieces: readonly Buffer[]) {
    this.#pieces = pieces;
    for (const [number, piece] of pieces.entries()) {
      const isByte = number >= FIRST_BYTE_TOKEN && number < FIRST_BYTE_TOKEN + BYTES;
      const text = piece.toString("utf8");
      if (!isByte && number > END_TOKEN && !this.#numbers.has(text))
        this.#numbers.set(text, number);
    }
  }

  get size(): number {
    return this.#pieces.length;
  }

  /** The text of tokens; a leading blank stays. */
  decode(tokens: readonly number[]): string {
    const bytes = Buffer.concat(tokens.map((token) => this.#bytesOf(token)));
    return bytes.toString("utf8").replaceAll(BLANK, " ");
  }

  /** True for a token that begins a new word. */
  beginsWord(token: number): boolean {
    return this.#pieces[token]?.toString("utf8").startsWith(BLANK) === true;
  }

  /** The shortest split of a text into tokens, as the model itself was taught it. */
  encode(text: string): number[] {
    const marked = text.replaceAll(" ", BLANK);
    const parts = [...marked];
    for (;;) {
      const best = this.#lowestPair(parts);
      if (best < 0) break;
      parts.splice(best, 2, `${parts[best]}${parts[best + 1]}`);
    }
    return parts.flatMap((part) => this.#numbers.get(part) ?? bytesAsTokens(part));
  }

  /** The split that takes the longest token first. */
  encodeGreedily(text: string): number[] {
    const letters = [...text.replaceAll(" ", BLANK)];
    const tokens: number[] = [];
    for (let at = 0; at < letters.length; ) {
      let length = letters.length - at;
      while (length > 1 && !this.#numbers.has(letters.slice(at, at + length).join(""))) length -= 1;
      const part = letters.slice(at, at + length).join("");
      tokens.push(...(this.#has(part) ?? bytesAsTokens(part)));
      at += length;
    }
    return tokens;
  }

  #has(part: string): number[] | undefined {
    const number = this.#numbers.get(part);
    return number === undefined ? undefined : [number];
  }

  #lowestPair(parts: readonly string[]): number {
    let best = -1;
    let lowest = Number.POSITIVE_INFINITY;
    for (let at = 0; at + 1 < parts.length; at++) {
      const number = this.#numbers.get(`${parts[at]}${parts[at + 1]}`);
      if (number === undefined || number >= lowest) continue;
      lowest = number;
      best = at;
    }
    return best;
  }

  #bytesOf(token: number): Buffer {
    const byte = token - FIRST_BYTE_TOKEN;
    if (byte >= 0 && byte < BYTES) return Buffer.of(byte);
    return token > END_TOKEN ? (this.#pieces[token] ?? Buffer.alloc(0)) : Buffer.alloc(0);
  }
}

function bytesAsTokens(text: string): number[] {
  return [...Buffer.from(text, "utf8")].map((byte) => FIRST_BYTE_TOKEN + byte);
}

function readPieces(file: Buffer): Buffer[] {
  const pieces: Buffer[] = [];
  let at = 0;
  while (at < file.length) {
    let length = file[at++] ?? 0;
    if (length >= 128) length = length - 128 + 128 * (file[at++] ?? 0);
    if (at + length > file.length) throw new RangeError("the tokenizer's file is cut off");
    pieces.push(file.subarray(at, at + length));
    at += length;
  }
  return pieces;
}
