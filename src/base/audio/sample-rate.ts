/** Samples per second of every session's timeline. */
export const SESSION_RATE = 16_000;
export const SAMPLES_PER_MS = SESSION_RATE / 1_000;

const LOWEST_RATE = 8_000;
const HIGHEST_RATE = 96_000;
/** Input frames in one exact resampling period; 441 for 44.1 kHz, 3 for 48 kHz. */
const LONGEST_PERIOD = 1_000;

/**
 * Position on the timeline, in samples at 16 kHz, after `frames` frames of audio at `rate`, counted
 * from the start of an unbroken run of chunks of one rate. A chunk's length is the difference of
 * two such positions, so that rounding errors do not accumulate.
 */
export function toSessionSamples(frames: number, rate: number): number {
  return Math.floor((frames * SESSION_RATE) / rate);
}

/** A position on the timeline in milliseconds, rounded. */
export function toMilliseconds(samples: number): number {
  return Math.round(samples / SAMPLES_PER_MS);
}

/** A position on the timeline in seconds, rounded to the millisecond. */
export function toSeconds(samples: number): number {
  return toMilliseconds(samples) / 1_000;
}

/** The smallest numbers of input frames and output samples with the same duration. */
export function resamplingPeriod(rate: number): { input: number; output: number } {
  const divisor = greatestCommonDivisor(rate, SESSION_RATE);
  return { input: rate / divisor, output: SESSION_RATE / divisor };
}

/**
 * True for whole rates from 8 to 96 kHz with a short ratio to 16 kHz, which includes all common
 * rates.
 */
export function isSupportedRate(rate: number): boolean {
  if (!Number.isInteger(rate) || rate < LOWEST_RATE || rate > HIGHEST_RATE) return false;
  return resamplingPeriod(rate).input <= LONGEST_PERIOD;
}

function greatestCommonDivisor(a: number, b: number): number {
  return b === 0 ? a : greatestCommonDivisor(b, a % b);
}
