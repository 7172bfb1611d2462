import { CEPSTRA, FRAME_LENGTH, MelCepstrum } from "./mel-cepstrum.ts";
import { pitchOf } from "./pitch.ts";

/** Numbers of one frame: the cepstrum, and its slope over 50 ms. */
export const FRAME_SIZE = 2 * CEPSTRA;
/** Frames per second of speech. */
export const FRAMES_PER_SECOND = 100;

const SHIFT = 160;
/** Slopes count double, so that they weigh about as much as the cepstrum itself. */
const SLOPE_WEIGHT = 2;
/** The level that 95 % of the frames stay below; frames this much below it are pauses. */
const LOUD_SHARE = 0.95;
const PAUSE_DB = 25;
/** Pitch is looked for in every fourth frame of speech. */
const PITCH_EVERY = 4;
const LEAST_PITCHED = 25;
/** Frames analysed between two steps: about 2 ms of work. */
const STEP = 32;

/** The speech of one voice in numbers. */
export interface VoiceFrames {
  /** Number of frames of speech, 10 ms each. */
  count: number;
  /** Frames of 38 numbers, row after row, with the mean of each of the first 19 taken away. */
  rows: Float32Array;
  /** Median of log2 of the pitch in Hz; NaN when too little of it is voiced. */
  pitch: number;
}

/** Analyses samples at 16 kHz, mono, of one voice; yields between steps of some milliseconds. */
export function* voiceFrames(pcm: Int16Array): Generator<undefined, VoiceFrames> {
  const total = Math.max(0, Math.floor((pcm.length - FRAME_LENGTH) / SHIFT) + 1);
  const cepstrum = new MelCepstrum();
  const all = new Float32Array(total * CEPSTRA);
  const levels = new Float32Array(total);
  for (let n = 0; n < total; n++) {
    const row = all.subarray(n * CEPSTRA, (n + 1) * CEPSTRA);
    levels[n] = cepstrum.analyse(pcm, n * SHIFT, row).speechDb;
    if (n % STEP === STEP - 1) yield;
  }
  const spoken = framesOfSpeech(levels);
  const rows = new Float32Array(spoken.length * FRAME_SIZE);
  const pitches: number[] = [];
  for (const [at, n] of spoken.entries()) {
    writeFrame(all, total, n, rows.subarray(at * FRAME_SIZE, (at + 1) * FRAME_SIZE));
    if (at % PITCH_EVERY !== 0) continue;
    const pitch = pitchOf(pcm, n * SHIFT);
    if (pitch !== undefined) pitches.push(Math.log2(pitch));
    if (at % STEP === 0) yield;
  }
  withoutMean(rows);
  return { count: spoken.length, rows, pitch: median(pitches) };
}

function framesOfSpeech(levels: Float32Array): number[] {
  const sorted = Float32Array.from(levels).sort();
  const loud = sorted[Math.floor(LOUD_SHARE * sorted.length)] ?? 0;
  return [...levels.keys()].filter((n) => (levels[n] ?? 0) > loud - PAUSE_DB);
}

function writeFrame(all: Float32Array, total: number, n: number, out: Float32Array): void {
  writeSlopes((offset) => {
    const frame = Math.max(0, Math.min(total - 1, n + offset));
    return all.subarray(frame * CEPSTRA, (frame + 1) * CEPSTRA);
  }, out);
}

/**
 * Writes a frame's cepstrum and its regression slope over the five frames around it; `rowAt` gives
 * the cepstrum of the frame so many places away, -2 to 2.
 */
export function writeSlopes(rowAt: (offset: number) => Float32Array, out: Float32Array): void {
  const [before2, before, here, after, after2] = [-2, -1, 0, 1, 2].map(rowAt);
  if (!before2 || !before || !here || !after || !after2) return;
  for (let c = 0; c < CEPSTRA; c++) {
    const slope = 2 * ((after2[c] ?? 0) - (before2[c] ?? 0)) + (after[c] ?? 0) - (before[c] ?? 0);
    out[c] = here[c] ?? 0;
    out[CEPSTRA + c] = (SLOPE_WEIGHT * slope) / 10;
  }
}

/** Takes the mean of each cepstral coefficient away, and with it most of what a microphone adds. */
function withoutMean(rows: Float32Array): void {
  const count = rows.length / FRAME_SIZE;
  for (let c = 0; c < CEPSTRA; c++) {
    let sum = 0;
    for (let n = 0; n < count; n++) sum += rows[n * FRAME_SIZE + c] ?? 0;
    const mean = sum / Math.max(1, count);
    for (let n = 0; n < count; n++) {
      rows[n * FRAME_SIZE + c] = (rows[n * FRAME_SIZE + c] ?? 0) - mean;
    }
  }
}

function median(values: number[]): number {
  if (values.length < LEAST_PITCHED) return Number.NaN;
  return values.sort((a, b) => a - b)[values.length >> 1] ?? Number.NaN;
}
