import { SESSION_RATE } from "../../src/base/audio/sample-rate.ts";
import { ACTIVITY_FRAME } from "../audio/speech-activity.ts";

/** What a telephone line lets through, Hz. */
const BAND = { low: 300, high: 3_400 };
/** Half the length of the filters, in samples: their edges are some 300 Hz wide. */
const HALF = 128;
/** What is compared for whether a line lets through more than a telephone, Hz. */
const ABOVE = { low: 3_900, high: 7_400 };
const WITHIN = { low: 500, high: 3_000 };
/**
 * A line whose speech has less above than this share of what it has within lets through no more (-45 dB). Recordings
 * of rooms have -4 to -26 dB, telephones by G.711 and GSM -65 to -77 dB.
 */
const LEAST_ABOVE = 10 ** -4.5;
/** Frames that are looked at, spread over the speech, and every so many samples of each. */
const MOST_FRAMES = 500;
const STEP = 31;

const TELEPHONE = bandPass(BAND);

/** Samples at 16 kHz as a telephone line lets them through, 300 to 3,400 Hz. */
export function throughTelephone(pcm: Int16Array): Int16Array {
  return Int16Array.from(pcm, (_, n) => {
    return Math.max(-32_768, Math.min(32_767, Math.round(filtered(pcm, TELEPHONE, n))));
  });
}

/**
 * Whether speech at 16 kHz came over a line that lets through no more than a telephone does. It consists of whole
 * frames of `ACTIVITY_FRAME` samples, and is looked at within each: where pauses are cut out it jumps, which has all
 * frequencies.
 */
export function isNarrow(speech: Int16Array): boolean {
  return energyIn(speech, ABOVE) < LEAST_ABOVE * energyIn(speech, WITHIN);
}

function energyIn(speech: Int16Array, band: { low: number; high: number }): number {
  const taps = bandPass(band);
  const apart =
    Math.max(1, Math.ceil(speech.length / ACTIVITY_FRAME / MOST_FRAMES)) * ACTIVITY_FRAME;
  let sum = 0;
  for (let frame = 0; frame + ACTIVITY_FRAME <= speech.length; frame += apart) {
    for (let n = HALF; n < ACTIVITY_FRAME - HALF; n += STEP) {
      sum += filtered(speech, taps, frame + n) ** 2;
    }
  }
  return sum;
}

/** A windowed sinc (Blackman), symmetrical: it delays all frequencies alike. */
function bandPass({ low, high }: { low: number; high: number }): Float64Array {
  return Float64Array.from({ length: 2 * HALF + 1 }, (_, n) => {
    const phase = (Math.PI * n) / HALF;
    const window = 0.42 - 0.5 * Math.cos(phase) + 0.08 * Math.cos(2 * phase);
    return window * (lowPass(high, n - HALF) - lowPass(low, n - HALF));
  });
}

function lowPass(hz: number, at: number): number {
  const turn = (2 * Math.PI * hz) / SESSION_RATE;
  return at === 0 ? turn / Math.PI : Math.sin(turn * at) / (Math.PI * at);
}

function filtered(pcm: Int16Array, taps: Float64Array, n: number): number {
  let sum = 0;
  const from = Math.max(-HALF, -n);
  const to = Math.min(HALF, pcm.length - 1 - n);
  for (let k = from; k <= to; k++) sum += (pcm[n + k] as number) * (taps[k + HALF] as number);
  return sum;
}
