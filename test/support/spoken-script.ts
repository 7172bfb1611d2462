import { readFileSync } from "node:fs";
import { join } from "node:path";

/** One turn of the scripted conversation. Times are samples at 16 kHz from its beginning. */
export interface ScriptedTurn {
  readonly speaker: number;
  readonly words: readonly { text: string; start: number; end: number }[];
}

const FILE = join(import.meta.dirname, "../fixtures/conversation/words.json");
const PER_MS = 16;
/** Samples of a block: so long the sound keeps one value. */
export const BLOCK = 1_600;
/** Between the values of two blocks. */
const STEP = 64;

interface Script {
  readonly turns: readonly ScriptedTurn[];
  readonly blocks: number;
}

function readScript(): Script {
  const { duration_ms, turns } = JSON.parse(readFileSync(FILE, "utf8")) as {
    duration_ms: number;
    turns: { speaker: string; words: [string, number, number][] }[];
  };
  const speakers = [...new Set(turns.map(({ speaker }) => speaker))];
  return {
    blocks: Math.ceil((duration_ms * PER_MS) / BLOCK),
    turns: turns.map(({ speaker, words }) => ({
      speaker: speakers.indexOf(speaker),
      words: words.map(([text, start, end]) => ({
        text,
        start: start * PER_MS,
        end: end * PER_MS,
      })),
    })),
  };
}

export const SCRIPT = readScript();

/** A word, and where it begins and ends after the beginning of its block, in samples. */
export interface ScriptedWord {
  readonly turn: number;
  readonly text: string;
  readonly start: number;
  readonly end: number;
}

/** The words whose middle lies in each block. */
export const WORDS_OF_BLOCKS: readonly (readonly ScriptedWord[])[] = wordsOfBlocks(SCRIPT);

function wordsOfBlocks({ turns, blocks }: Script): ScriptedWord[][] {
  const words: ScriptedWord[][] = Array.from({ length: blocks }, () => []);
  for (const [turn, { words: said }] of turns.entries()) {
    for (const { text, start, end } of said) {
      const block = Math.floor((start + end) / 2 / BLOCK);
      const from = block * BLOCK;
      words[block]?.push({ turn, text, start: start - from, end: end - from });
    }
  }
  return words;
}

/**
 * The scripted conversation as "sound": 16 kHz mono PCM16 in which each block of 100 ms has a value
 * of its own, by which `ConversationReader` knows which words of the script stand there, wherever
 * and however often the block comes. Of blocks that are `isUnclear` it is not sure.
 */
export function scriptedPcm(isUnclear: (block: number) => boolean = () => false): Buffer {
  const samples = new Int16Array(SCRIPT.blocks * BLOCK);
  for (let block = 0; block < SCRIPT.blocks; block += 1) {
    const level = isUnclear(block) ? -levelOf(block) : levelOf(block);
    samples.fill(level, block * BLOCK, (block + 1) * BLOCK);
  }
  return Buffer.from(samples.buffer);
}

function levelOf(block: number): number {
  return (block + 1) * STEP;
}

/** The block of a sample; undefined where it is none of the script's. */
export function blockOf(sample: number): number | undefined {
  const level = Math.abs(sample);
  const block = Math.round(level / STEP) - 1;
  const isClose = Math.abs(level - levelOf(block)) <= STEP / 8;
  return isClose && block >= 0 && block < SCRIPT.blocks ? block : undefined;
}
