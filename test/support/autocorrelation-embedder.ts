import {
  LEAST_EMBEDDED_SAMPLES,
  type VoiceEmbedder,
} from "../../workers/speakers/voice-embedder.ts";

const LAGS = 32;
const FRAME = 400;

/**
 * Tells voices apart by the mean shape of their short autocorrelation, which follows the resonances
 * of a throat: a small embedder of real sound that needs no network.
 */
export class AutocorrelationEmbedder implements VoiceEmbedder {
  readonly name = "autocorrelation-1";
  readonly dimension = LAGS;
  #isClosed = false;

  embed(samples: Int16Array): Float32Array | undefined {
    if (this.#isClosed) throw new Error("The embedder is closed.");
    if (samples.length < LEAST_EMBEDDED_SAMPLES) throw new RangeError("Too little speech.");
    const sum = new Float64Array(LAGS);
    for (let at = 0; at + FRAME + LAGS < samples.length; at += FRAME) addFrame(sum, samples, at);
    const length = Math.hypot(...sum);
    return length === 0 ? undefined : Float32Array.from(sum, (value) => value / length);
  }

  close(): void {
    this.#isClosed = true;
  }
}

/** Adds a frame's autocorrelation, each frame with the same weight; silence adds nothing. */
function addFrame(sum: Float64Array, samples: Int16Array, at: number): void {
  const correlation = (lag: number) => {
    let total = 0;
    for (let i = at; i < at + FRAME; i += 1) total += (samples[i] ?? 0) * (samples[i + lag] ?? 0);
    return total;
  };
  const energy = correlation(0);
  if (energy === 0) return;
  for (let lag = 1; lag <= LAGS; lag += 1) {
    sum[lag - 1] = (sum[lag - 1] ?? 0) + correlation(lag) / energy;
  }
}
