import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** One word of a synthesised sentence; times in seconds from the start of its samples. */
export interface SpokenWord {
  readonly word: string;
  readonly start: number;
  readonly end: number;
}

/** A sentence as flite speaks it: 16 kHz mono samples and the time of each word in them. */
export interface SpokenSentence {
  readonly samples: Int16Array;
  readonly words: readonly SpokenWord[];
}

export const SAMPLE_RATE = 16_000;
const WAV_HEADER_BYTES = 44;
const PAUSE = "pau";

/**
 * Speaks one sentence with the `flite` program. Flite prints the end time of every phone but not
 * of words; each word's share of the phones comes from speaking it alone.
 * Throws when the shares do not add up to the sentence's phones (choose other words then).
 */
export function speak(voice: string, sentence: string): SpokenSentence {
  const folder = mkdtempSync(join(tmpdir(), "flite-"));
  try {
    const file = join(folder, "sentence.wav");
    const printed = flite(["-voice", voice, "-psdur", "-t", sentence, "-o", file]);
    return { samples: readSamples(file), words: wordTimes(voice, sentence, parsePhones(printed)) };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function flite(args: readonly string[]): string {
  return execFileSync("flite", args, { encoding: "utf8", timeout: 30_000 });
}

interface Phone {
  readonly name: string;
  readonly start: number;
  readonly end: number;
}

function parsePhones(printed: string): Phone[] {
  let start = 0;
  return printed
    .trim()
    .split(/\s+/)
    .map((item) => {
      const [name = "", time = ""] = item.split(":");
      const phone = { name, start, end: Number(time) };
      start = phone.end;
      return phone;
    });
}

function wordTimes(voice: string, sentence: string, phones: readonly Phone[]): SpokenWord[] {
  const spoken = phones.filter((phone) => phone.name !== PAUSE);
  const names = sentence.toLowerCase().match(/[a-z']+/g) ?? [];
  let next = 0;
  const words = names.map((word) => {
    const share = spoken.slice(next, next + phoneCount(voice, word));
    next += share.length;
    return { word, start: share.at(0)?.start ?? 0, end: share.at(-1)?.end ?? 0 };
  });
  if (next !== spoken.length || words.some((word) => word.end <= word.start)) {
    throw new Error(`the phones of "${sentence}" (${spoken.length}) do not divide into its words`);
  }
  return words;
}

function phoneCount(voice: string, word: string): number {
  const phones = flite(["-voice", voice, "-ps", "-t", word, "-o", "none"]).trim().split(/\s+/);
  return phones.filter((name) => name !== PAUSE).length;
}

function readSamples(file: string): Int16Array {
  const bytes = readFileSync(file);
  const rate = bytes.readUInt32LE(24);
  if (rate !== SAMPLE_RATE) throw new Error(`flite wrote ${rate} Hz, expected ${SAMPLE_RATE}`);
  const count = (bytes.length - WAV_HEADER_BYTES) >> 1;
  return Int16Array.from({ length: count }, (_, i) => bytes.readInt16LE(WAV_HEADER_BYTES + 2 * i));
}
