import { SILERO_CONTEXT, SILERO_FRAME, SILERO_HIDDEN, SileroNetwork } from "./silero-network.ts";

/** Samples per decision: 32 ms at 16 kHz. */
export const ACTIVITY_FRAME = SILERO_FRAME;

/** Of the filter that takes a constant offset away: it lets through what is above 13 Hz. */
const LEAKAGE = 0.995;
const FULL_SCALE = 32_768;
/** The network's two states, the last samples, and the filter's last input, last output and whether it runs. */
const STATE_VALUES = 2 * SILERO_HIDDEN + SILERO_CONTEXT + 3;
const CONTEXT_AT = 2 * SILERO_HIDDEN;
const FILTER_AT = CONTEXT_AT + SILERO_CONTEXT;

/** Sound whose constant offset was taken away, and how likely speech is in it. */
interface ActivityFrame {
  pcm: Int16Array;
  /** 0..1. */
  probability: number;
}

/**
 * Tells how likely speech is in the sound of one stream, frame by frame. A constant offset is taken
 * away first, since some recorders add one that hides the voice. The state goes on over pauses and
 * utterances and is never reset within a stream.
 */
export class SpeechActivity {
  readonly #network: SileroNetwork;
  readonly #values = new Float32Array(STATE_VALUES);
  readonly #sound = new Float32Array(SILERO_CONTEXT + SILERO_FRAME);

  constructor(network: SileroNetwork = SileroNetwork.load()) {
    this.#network = network;
  }

  /** Takes the next frame, `ACTIVITY_FRAME` samples. */
  take(frame: Int16Array): ActivityFrame {
    const pcm = this.pass(frame);
    const before = this.#sound;
    const probability = this.#network.probability(before, this.#values.subarray(0, CONTEXT_AT));
    return { pcm, probability };
  }

  /** Takes the next samples, at most a frame, without a decision about them. */
  pass(samples: Int16Array): Int16Array {
    const values = this.#values;
    const pcm = withoutOffset(samples, values.subarray(FILTER_AT));
    const sound = this.#sound;
    sound.set(values.subarray(CONTEXT_AT, FILTER_AT));
    for (let i = 0; i < pcm.length; i++) sound[SILERO_CONTEXT + i] = (pcm[i] ?? 0) / FULL_SCALE;
    values.set(sound.subarray(pcm.length, pcm.length + SILERO_CONTEXT), CONTEXT_AT);
    return pcm;
  }

  /** Audio is missing: what follows does not continue the samples before. */
  skip(): void {
    this.#values.fill(0, CONTEXT_AT);
  }

  /** What a detector that goes on from here needs: `STATE_VALUES` numbers, 1.3 kB. */
  state(): Uint8Array {
    return new Uint8Array(this.#values.slice().buffer);
  }

  /** Restores a saved state. Throws RangeError for bytes of another length or other values. */
  restore(state: Uint8Array): void {
    if (state.byteLength !== 4 * STATE_VALUES) {
      throw new RangeError(`voice activity state of ${state.byteLength} bytes is not ours`);
    }
    const values = new Float32Array(Uint8Array.from(state).buffer);
    if (!values.every(Number.isFinite)) throw new RangeError("voice activity state is not ours");
    this.#values.set(values);
  }
}

/** A high-pass filter of the first order; `state` is its last input, last output, and 1 once it runs. */
function withoutOffset(samples: Int16Array, state: Float32Array): Int16Array {
  const out = new Int16Array(samples.length);
  let [input = 0, output = 0, runs = 0] = state;
  for (let i = 0; i < samples.length; i++) {
    const sample = samples[i] ?? 0;
    if (runs === 0) input = sample;
    runs = 1;
    output = sample - input + LEAKAGE * output;
    input = sample;
    out[i] = Math.max(-FULL_SCALE, Math.min(FULL_SCALE - 1, Math.round(output)));
  }
  state[0] = input;
  state[1] = output;
  state[2] = runs;
  return out;
}
