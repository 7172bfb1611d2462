import type { SeededRandom } from "../support/seeded-random.ts";

/** Simulated sound: cells of a tenth of a second, each silent or part of a word that names itself. */
export const CELL_SAMPLES = 1_600;
export const CELL_BYTES = 4;

export interface Cell {
  /** Name of the chunk that holds it. */
  name: number;
  /** Number of the word in its chunk, from 1; 0 is silence. */
  word: number;
  speaker: number;
}

/** Sound that nobody can read. */
const BROKEN = 0xff;
/** Sound that ends the process which reads it. */
const POISON = 0xfe;

export type Kind = "speech" | "broken" | "poison";

const CELL_TYPE = "audio/pcm;rate=16000;channels=1;encoding=s16le";

/** One chunk as it was recorded. */
export interface Sound {
  /** How many the device recorded before it. */
  name: number;
  /** As it is uploaded; undefined while no number was found for it. */
  sequence: number | undefined;
  kind: Kind;
  data: Buffer;
  mediaType: string;
  frames: number;
  sampleRate: number;
  /** Of sound that is made of cells. */
  cells: Cell[];
  /** Of sound that is cut from a track: at which byte of it. */
  from?: number;
}

/** Somebody speaks, with pauses now and then. */
export function record(random: SeededRandom, name: number, cells: number, kind: Kind): Sound {
  const spoken: Cell[] = [];
  let word = 0;
  let speaker = random.below(3);
  while (spoken.length < cells) {
    const isPause = random.chance(0.25);
    if (!isPause && random.chance(0.1)) speaker = random.below(3);
    if (!isPause) word += 1;
    const length = isPause ? 1 + random.below(9) : 2 + random.below(4);
    const cell: Cell = { name, word: isPause ? 0 : word, speaker };
    for (let n = 0; n < length && spoken.length < cells; n += 1) spoken.push(cell);
  }
  return {
    name,
    sequence: undefined,
    kind,
    cells: spoken,
    data: encode(spoken, kind),
    mediaType: CELL_TYPE,
    frames: spoken.length * CELL_SAMPLES,
    sampleRate: 16_000,
  };
}

export function encode(cells: readonly Cell[], kind: Kind): Buffer {
  const data = Buffer.alloc(cells.length * CELL_BYTES);
  for (const [index, { name, word, speaker }] of cells.entries()) {
    const at = index * CELL_BYTES;
    data.writeUInt16BE(name, at);
    data.writeUInt8(word, at + 2);
    data.writeUInt8(kind === "speech" ? speaker : kind === "broken" ? BROKEN : POISON, at + 3);
  }
  return data;
}

export function kindOf(data: Uint8Array): Kind {
  if (data[3] === BROKEN) return "broken";
  return data[3] === POISON ? "poison" : "speech";
}

export function decode(data: Buffer): Cell[] {
  const cells: Cell[] = [];
  for (let at = 0; at + CELL_BYTES <= data.length; at += CELL_BYTES) {
    cells.push({
      name: data.readUInt16BE(at),
      word: data.readUInt8(at + 2),
      speaker: data.readUInt8(at + 3),
    });
  }
  return cells;
}

/** A stretch in which one word is said, or nothing. Samples from the start. */
export interface Run {
  start: number;
  end: number;
  text: string | undefined;
  speaker: number;
}

/** Cells that say the same, together. */
export function runsOf(cells: readonly Cell[]): Run[] {
  const runs: Run[] = [];
  for (const [index, { name, word, speaker }] of cells.entries()) {
    const [start, end] = [index * CELL_SAMPLES, (index + 1) * CELL_SAMPLES];
    const text = word === 0 ? undefined : wordText(name, word);
    const last = runs.at(-1);
    if (last !== undefined && last.text === text) last.end = end;
    else runs.push({ start, end, text, speaker });
  }
  return runs;
}

const PCM_BYTES = CELL_SAMPLES * 2;

/** As the service takes it for: 16 bits for each sample. */
export function toPcm(data: Uint8Array): Buffer {
  const cells = Math.floor(data.length / CELL_BYTES);
  const pcm = Buffer.alloc(cells * PCM_BYTES);
  for (let n = 0; n < cells; n += 1) {
    const cell = data.subarray(n * CELL_BYTES, (n + 1) * CELL_BYTES);
    if (cell.some((byte) => byte !== 0)) pcm.fill(cell, n * PCM_BYTES, (n + 1) * PCM_BYTES);
  }
  return pcm;
}

/** Back again: a cell is silent when all of it is. */
export function fromPcm(pcm: Uint8Array): Buffer {
  const cells = Math.floor(pcm.length / PCM_BYTES);
  const data = Buffer.alloc(cells * CELL_BYTES);
  for (let n = 0; n < cells; n += 1) {
    const end = (n + 1) * PCM_BYTES;
    for (let at = n * PCM_BYTES; at < end; at += CELL_BYTES) {
      const cell = pcm.subarray(at, at + CELL_BYTES);
      if (cell.every((byte) => byte === 0)) continue;
      // The first one behind what was silenced may be silent by half.
      const isHalf = at > n * PCM_BYTES;
      if (!isHalf) data.set(cell, n * CELL_BYTES);
      else if (at + CELL_BYTES < end) {
        data.set(pcm.subarray(at + CELL_BYTES, at + 2 * CELL_BYTES), n * CELL_BYTES);
      }
      break;
    }
  }
  return data;
}

export function wordText(name: number, word: number): string {
  return `c${name}w${word}`;
}

export interface HeardWord {
  text: string;
  /** Samples from the start of the chunk. */
  start: number;
  end: number;
}

/** The words of a chunk, each once. */
export function wordsOf({ name, cells }: Pick<Sound, "name" | "cells">): HeardWord[] {
  const words: HeardWord[] = [];
  let before = 0;
  for (const [index, { word }] of cells.entries()) {
    const end = (index + 1) * CELL_SAMPLES;
    const last = words.at(-1);
    if (word !== 0 && word === before && last !== undefined) last.end = end;
    else if (word !== 0) {
      words.push({ text: wordText(name, word), start: index * CELL_SAMPLES, end });
    }
    before = word;
  }
  return words;
}
