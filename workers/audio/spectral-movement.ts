import { SESSION_RATE } from "../../src/base/audio/sample-rate.ts";

/** Samples of one frame, 30 ms. */
const FRAME = 0.03 * SESSION_RATE;
/** Between four bands; each edge is two filters of first order in a row. */
const EDGES_HZ = [900, 1_800, 3_600];
const GAINS = EDGES_HZ.map((hz) => 1 - Math.exp((-2 * Math.PI * hz) / SESSION_RATE));
const BANDS = EDGES_HZ.length + 1;
/** Frames of less than this share of the mean energy do not count. */
const LEAST_OF_MEAN = 1 / 8;
const LEAST_FRAMES = 5;
const DECIBEL = 10 / Math.LN10;

/** How much the colour of a span's sound changes: mouths move, breath and brushes do not. */
export class SpectralMovement {
  readonly #first = new Float64Array(GAINS.length);
  readonly #second = new Float64Array(GAINS.length);
  /** Energies of the bands, frame by frame. */
  readonly #frames: Float64Array[] = [];
  #frame = new Float64Array(BANDS);
  #filled = 0;

  push(pcm: Int16Array): void {
    for (const sample of pcm) {
      let below = 0;
      for (let edge = 0; edge < GAINS.length; edge++) {
        const gain = GAINS[edge] ?? 0;
        const first = (this.#first[edge] ?? 0) * (1 - gain) + gain * sample;
        const second = (this.#second[edge] ?? 0) * (1 - gain) + gain * first;
        this.#first[edge] = first;
        this.#second[edge] = second;
        this.#frame[edge] = (this.#frame[edge] ?? 0) + (second - below) ** 2;
        below = second;
      }
      this.#frame[BANDS - 1] = (this.#frame[BANDS - 1] ?? 0) + (sample - below) ** 2;
      this.#filled += 1;
      if (this.#filled === FRAME) this.#next();
    }
  }

  /** Standard deviation of the bands' levels against each other over the louder frames, dB; 0 of too few. */
  get decibels(): number {
    const wholes = this.#frames.map((bands) => bands.reduce((sum, band) => sum + band, 0));
    const mean = wholes.reduce((sum, whole) => sum + whole, 0) / wholes.length;
    const loud = this.#frames.filter((_, at) => (wholes[at] ?? 0) > LEAST_OF_MEAN * mean);
    if (loud.length < LEAST_FRAMES) return 0;
    const colours = loud.map((bands) => {
      const levels = Array.from(bands, (band) => DECIBEL * Math.log(band + 1));
      const level = levels.reduce((sum, each) => sum + each, 0) / BANDS;
      return levels.map((each) => each - level);
    });
    const variances = colours[0]?.map((_, band) =>
      variance(colours.map((each) => each[band] ?? 0)),
    );
    return Math.sqrt((variances ?? []).reduce((sum, each) => sum + each, 0) / BANDS);
  }

  #next(): void {
    this.#frames.push(this.#frame);
    this.#frame = new Float64Array(BANDS);
    this.#filled = 0;
  }
}

function variance(values: readonly number[]): number {
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
  return values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / values.length;
}
