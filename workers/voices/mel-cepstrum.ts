/** Samples of one frame (25 ms at 16 kHz). */
export const FRAME_LENGTH = 400;
/**
 * Number of cepstral coefficients: c1 to c19. c0 is left out, as it depends on loudness, not on the
 * speaker.
 */
export const CEPSTRA = 19;

const SAMPLE_RATE = 16000;
const FFT_SIZE = 512;
const MEL_BANDS = 30;
const LOWEST_HZ = 60;
const HIGHEST_HZ = 7800;
const PRE_EMPHASIS = 0.97;
/**
 * Lower bound of energies, about one quantisation step, which keeps logarithms finite in digital
 * silence.
 */
const FLOOR = 1e-1;

/** Levels of one frame, returned beside its cepstrum. */
interface FrameLevel {
  /** Power between 280 and 4000 Hz in dB, the band with most of the energy of speech. */
  speechDb: number;
}

/**
 * Mel-frequency cepstra (Davis and Mermelstein 1980): 25 ms Hamming windows, 30 triangular mel
 * bands from 60 to 7800 Hz, log energies, type-II cosine transform.
 */
export class MelCepstrum {
  readonly #window = hamming();
  readonly #bands = melBands();
  readonly #cosine = cosineTable();
  readonly #twiddle = twiddles();
  readonly #re = new Float64Array(FFT_SIZE);
  readonly #im = new Float64Array(FFT_SIZE);
  readonly #power = new Float64Array(FFT_SIZE / 2 + 1);
  readonly #log = new Float64Array(MEL_BANDS);

  /** Analyses the 400 samples at `offset` and writes 19 coefficients to `out`. */
  analyse(samples: Int16Array, offset: number, out: Float32Array): FrameLevel {
    this.#spectrum(samples, offset);
    for (let b = 0; b < MEL_BANDS; b++) this.#log[b] = Math.log(this.#bandEnergy(b) + FLOOR);
    for (let c = 0; c < CEPSTRA; c++) {
      let sum = 0;
      for (let b = 0; b < MEL_BANDS; b++) {
        sum += (this.#log[b] ?? 0) * (this.#cosine[c * MEL_BANDS + b] ?? 0);
      }
      out[c] = sum;
    }
    return { speechDb: this.#speechLevel() };
  }

  #spectrum(samples: Int16Array, offset: number): void {
    const { re, im } = { re: this.#re, im: this.#im };
    re.fill(0);
    im.fill(0);
    let before = samples[offset] ?? 0;
    for (let i = 0; i < FRAME_LENGTH; i++) {
      const now = samples[offset + i] ?? 0;
      re[i] = (now - PRE_EMPHASIS * before) * (this.#window[i] ?? 0);
      before = now;
    }
    transform(re, im, this.#twiddle);
    for (let k = 0; k < this.#power.length; k++) {
      const a = re[k] ?? 0;
      const b = im[k] ?? 0;
      this.#power[k] = (a * a + b * b) / FFT_SIZE;
    }
  }

  #bandEnergy(band: number): number {
    const { first, weights } = this.#bands[band] ?? { first: 0, weights: new Float64Array(0) };
    let sum = 0;
    for (let i = 0; i < weights.length; i++) {
      sum += (weights[i] ?? 0) * (this.#power[first + i] ?? 0);
    }
    return sum;
  }

  #speechLevel(): number {
    let sum = 0;
    for (let k = 9; k <= 128; k++) sum += this.#power[k] ?? 0;
    return 10 * Math.log10(sum + FLOOR);
  }
}

function hamming(): Float64Array {
  return Float64Array.from(
    { length: FRAME_LENGTH },
    (_, i) => 0.54 - 0.46 * Math.cos((2 * Math.PI * i) / (FRAME_LENGTH - 1)),
  );
}

function cosineTable(): Float64Array {
  const table = new Float64Array(CEPSTRA * MEL_BANDS);
  const scale = Math.sqrt(2 / MEL_BANDS);
  for (let c = 0; c < CEPSTRA; c++) {
    for (let b = 0; b < MEL_BANDS; b++) {
      table[c * MEL_BANDS + b] = scale * Math.cos((Math.PI * (c + 1) * (b + 0.5)) / MEL_BANDS);
    }
  }
  return table;
}

interface MelBand {
  first: number;
  weights: Float64Array;
}

function melBands(): MelBand[] {
  const mel = (hz: number) => 1127 * Math.log(1 + hz / 700);
  const low = mel(LOWEST_HZ);
  const step = (mel(HIGHEST_HZ) - low) / (MEL_BANDS + 1);
  return Array.from({ length: MEL_BANDS }, (_, b) => {
    const all: number[] = [];
    let first = -1;
    for (let k = 1; k <= FFT_SIZE / 2; k++) {
      const place = (mel((k * SAMPLE_RATE) / FFT_SIZE) - low) / step - b;
      const weight = place <= 1 ? place : 2 - place;
      if (weight <= 0) continue;
      if (first < 0) first = k;
      all.push(weight);
    }
    return { first: Math.max(0, first), weights: Float64Array.from(all) };
  });
}

function twiddles(): Float64Array {
  const table = new Float64Array(FFT_SIZE);
  for (let k = 0; k < FFT_SIZE / 2; k++) {
    table[2 * k] = Math.cos((2 * Math.PI * k) / FFT_SIZE);
    table[2 * k + 1] = -Math.sin((2 * Math.PI * k) / FFT_SIZE);
  }
  return table;
}

/** In-place radix-2 Fourier transform of 512 points. */
function transform(re: Float64Array, im: Float64Array, twiddle: Float64Array): void {
  reorder(re, im);
  for (let size = 2; size <= FFT_SIZE; size *= 2) {
    const half = size / 2;
    const stride = FFT_SIZE / size;
    for (let start = 0; start < FFT_SIZE; start += size) {
      for (let k = 0; k < half; k++) {
        const i = start + k;
        const j = i + half;
        const wr = twiddle[2 * k * stride] ?? 0;
        const wi = twiddle[2 * k * stride + 1] ?? 0;
        const xr = (re[j] ?? 0) * wr - (im[j] ?? 0) * wi;
        const xi = (re[j] ?? 0) * wi + (im[j] ?? 0) * wr;
        re[j] = (re[i] ?? 0) - xr;
        im[j] = (im[i] ?? 0) - xi;
        re[i] = (re[i] ?? 0) + xr;
        im[i] = (im[i] ?? 0) + xi;
      }
    }
  }
}

function reorder(re: Float64Array, im: Float64Array): void {
  for (let i = 1, j = 0; i < FFT_SIZE; i++) {
    let bit = FFT_SIZE >> 1;
    for (; j & bit; bit >>= 1) j ^= bit;
    j |= bit;
    if (i >= j) continue;
    const r = re[i] ?? 0;
    const m = im[i] ?? 0;
    re[i] = re[j] ?? 0;
    im[i] = im[j] ?? 0;
    re[j] = r;
    im[j] = m;
  }
}
