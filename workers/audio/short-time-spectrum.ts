const WINDOW = 256;
const BITS = 8;
/** Bins of a spectrum: up to half the sample rate, both ends included. */
export const SPECTRUM_BINS = WINDOW / 2 + 1;
export const SPECTRUM_WINDOW = WINDOW;

const HANN = Float64Array.from(
  { length: WINDOW },
  (_, n) => 0.5 - 0.5 * Math.cos((2 * Math.PI * n) / WINDOW),
);
const COSINES = Float64Array.from({ length: WINDOW / 2 }, (_, n) =>
  Math.cos((2 * Math.PI * n) / WINDOW),
);
const SINES = Float64Array.from(
  { length: WINDOW / 2 },
  (_, n) => -Math.sin((2 * Math.PI * n) / WINDOW),
);
const REVERSED = Uint8Array.from({ length: WINDOW }, (_, n) => {
  let reversed = 0;
  for (let bit = 0; bit < BITS; bit++) reversed |= ((n >> bit) & 1) << (BITS - 1 - bit);
  return reversed;
});

const real = new Float64Array(WINDOW);
const imaginary = new Float64Array(WINDOW);

/**
 * Magnitudes of the Fourier transform of 256 samples under a periodic Hann window (radix 2,
 * decimation in time), without scaling.
 */
export function spectrumOf(sound: Float32Array, start: number, out: Float64Array): void {
  for (let n = 0; n < WINDOW; n++) {
    const from = REVERSED[n] as number;
    real[n] = (sound[start + from] as number) * (HANN[from] as number);
    imaginary[n] = 0;
  }
  for (let half = 1; half < WINDOW; half *= 2) transformStage(half);
  for (let bin = 0; bin < SPECTRUM_BINS; bin++) {
    out[bin] = Math.sqrt((real[bin] as number) ** 2 + (imaginary[bin] as number) ** 2);
  }
}

function transformStage(half: number): void {
  const stride = WINDOW / 2 / half;
  for (let block = 0; block < WINDOW; block += 2 * half) {
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
