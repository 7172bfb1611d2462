/** Bands of a frame. */
export const MEL_BANDS = 80;
/** Samples from one frame to the next (10 ms), and of one frame (25 ms). */
const MEL_SHIFT = 160;
const MEL_FRAME = 400;

const RATE = 16_000;
const FFT_SIZE = 512;
const LOWEST_HZ = 20;
const PRE_EMPHASIS = 0.97;
/** The least energy of a band: single precision's epsilon, as in torchaudio. */
const FLOOR = 1.1920929e-7;
const FULL_SCALE = 32_768;

/** Triangular in mel, as Kaldi has them: from 20 Hz to half the sample rate. */
const BANDS = melBands();
/** Povey's window: a Hann window to the power of 0.85. */
const WINDOW = Float64Array.from(
  { length: MEL_FRAME },
  (_, n) => (0.5 - 0.5 * Math.cos((2 * Math.PI * n) / (MEL_FRAME - 1))) ** 0.85,
);
const COSINES = Float64Array.from({ length: FFT_SIZE / 2 }, (_, n) =>
  Math.cos((2 * Math.PI * n) / FFT_SIZE),
);
const SINES = Float64Array.from(
  { length: FFT_SIZE / 2 },
  (_, n) => -Math.sin((2 * Math.PI * n) / FFT_SIZE),
);
const REVERSED = reversedBits();

const real = new Float64Array(FFT_SIZE);
const imaginary = new Float64Array(FFT_SIZE);
const power = new Float64Array(FFT_SIZE / 2 + 1);

/**
 * Logarithms of the energy in mel bands, as Kaldi's `compute-fbank-feats` has them by default (25 ms
 * every 10 ms, no frame beyond the sound, offset removed, Povey's window) but without dither, for
 * samples in -1..1. The mean of each band over all frames is taken away.
 *
 * @param pcm 16 kHz mono
 * @returns frames of `MEL_BANDS` numbers, row after row; none for less than `MEL_FRAME` samples
 */
export function melFilterBank(pcm: Int16Array): Float32Array {
  const frames = Math.max(0, Math.floor((pcm.length - MEL_FRAME) / MEL_SHIFT) + 1);
  const rows = new Float32Array(frames * MEL_BANDS);
  const sums = new Float64Array(MEL_BANDS);
  for (let frame = 0; frame < frames; frame++) {
    analyse(pcm, frame * MEL_SHIFT);
    const at = frame * MEL_BANDS;
    for (const [band, { first, weights }] of BANDS.entries()) {
      let energy = 0;
      for (let i = 0; i < weights.length; i++) {
        energy += (weights[i] as number) * (power[first + i] as number);
      }
      const level = Math.log(Math.max(FLOOR, energy));
      rows[at + band] = level;
      sums[band] = (sums[band] as number) + level;
    }
  }
  for (let at = 0; at < rows.length; at++) {
    rows[at] = (rows[at] as number) - (sums[at % MEL_BANDS] as number) / frames;
  }
  return rows;
}

/** The power spectrum of the frame at `start`. */
function analyse(pcm: Int16Array, start: number): void {
  let offset = 0;
  for (let n = 0; n < MEL_FRAME; n++) offset += pcm[start + n] as number;
  offset /= MEL_FRAME;
  real.fill(0);
  imaginary.fill(0);
  let before = ((pcm[start] as number) - offset) / FULL_SCALE;
  for (let n = 0; n < MEL_FRAME; n++) {
    const sample = ((pcm[start + n] as number) - offset) / FULL_SCALE;
    real[REVERSED[n] as number] = (sample - PRE_EMPHASIS * before) * (WINDOW[n] as number);
    before = sample;
  }
  for (let half = 1; half < FFT_SIZE; half *= 2) transformStage(half);
  for (let bin = 0; bin < power.length; bin++) {
    power[bin] = (real[bin] as number) ** 2 + (imaginary[bin] as number) ** 2;
  }
}

/** One stage of a radix-2 Fourier transform, decimation in time. */
function transformStage(half: number): void {
  const stride = FFT_SIZE / 2 / half;
  for (let block = 0; block < FFT_SIZE; block += 2 * half) {
    for (let n = 0; n < half; n++) {
      const upper = block + n;
      const lower = upper + half;
      const cosine = COSINES[n * stride] as number;
      const sine = SINES[n * stride] as number;
      const re = (real[lower] as number) * cosine - (imaginary[lower] as number) * sine;
      const im = (real[lower] as number) * sine + (imaginary[lower] as number) * cosine;
      real[lower] = (real[upper] as number) - re;
      imaginary[lower] = (imaginary[upper] as number) - im;
      real[upper] = (real[upper] as number) + re;
      imaginary[upper] = (imaginary[upper] as number) + im;
    }
  }
}

function melBands(): { first: number; weights: Float64Array }[] {
  const mel = (hz: number) => 1_127 * Math.log(1 + hz / 700);
  const low = mel(LOWEST_HZ);
  const step = (mel(RATE / 2) - low) / (MEL_BANDS + 1);
  return Array.from({ length: MEL_BANDS }, (_, band) => {
    const weights: number[] = [];
    let first = 0;
    for (let bin = 0; bin < FFT_SIZE / 2; bin++) {
      const place = (mel((bin * RATE) / FFT_SIZE) - low) / step - band;
      const weight = Math.min(place, 2 - place);
      if (weight <= 0) continue;
      if (weights.length === 0) first = bin;
      weights.push(weight);
    }
    return { first, weights: Float64Array.from(weights) };
  });
}

function reversedBits(): Uint16Array {
  const bits = Math.log2(FFT_SIZE);
  return Uint16Array.from({ length: FFT_SIZE }, (_, n) => {
    let reversed = 0;
    for (let bit = 0; bit < bits; bit++) reversed |= ((n >> bit) & 1) << (bits - 1 - bit);
    return reversed;
  });
}
