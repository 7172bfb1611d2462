import { readFileSync } from "node:fs";
import { readOnnxWeights } from "./onnx-weights.ts";
import { SPECTRUM_BINS, SPECTRUM_WINDOW, spectrumOf } from "./short-time-spectrum.ts";

/** New samples of a frame: 32 ms at 16 kHz. */
export const SILERO_FRAME = 512;
/** Samples of the frame before that each frame is given again. */
export const SILERO_CONTEXT = 64;
/** Values of each of the LSTM's two states. */
export const SILERO_HIDDEN = 128;

const FILE = new URL("../models/silero-vad/silero_vad_16k_op15.onnx", import.meta.url);
/** The end of a frame is continued by its mirror image. */
const MIRRORED = 64;
const SOUND = SILERO_CONTEXT + SILERO_FRAME;
const HOP = 128;
const COLUMNS = (SOUND + MIRRORED - SPECTRUM_WINDOW) / HOP + 1;

/** A matrix by columns: `values[input * outputs + output]`, so that inputs of 0 cost nothing. */
interface Matrix {
  values: Float64Array;
  outputs: number;
}

/** A convolution over time with a kernel of 3, padded by 1, and a ReLU behind it. */
interface Convolution {
  matrix: Matrix;
  bias: Float32Array;
  inputs: number;
  stride: number;
}

/**
 * Silero's voice activity network for 16 kHz, version 6: the layers as its publisher's
 * `tinygrad_model.py` describes them, the weights of its ONNX file. In plain code rather than in
 * onnxruntime, whose calls do not answer at once: the decision about an utterance is made where the
 * sound is read, within the same step, and with the same bits in every thread.
 *
 * One network serves all streams of a thread; what belongs to a stream is in its state.
 */
export class SileroNetwork {
  static #shared: SileroNetwork | undefined;
  readonly #layers: readonly Convolution[];
  readonly #fromInput: Matrix;
  readonly #fromHidden: Matrix;
  readonly #gateBias: Float32Array;
  readonly #out: Float32Array;
  readonly #outBias: number;
  readonly #sound = new Float32Array(SOUND + MIRRORED);
  readonly #gates = new Float64Array(4 * SILERO_HIDDEN);

  /** The network of this thread; read from its file at the first call. */
  static load(): SileroNetwork {
    SileroNetwork.#shared ??= new SileroNetwork(readOnnxWeights(readFileSync(FILE)));
    return SileroNetwork.#shared;
  }

  private constructor(weights: ReadonlyMap<string, Float32Array>) {
    const named = (name: string): Float32Array => {
      const found = weights.get(`model.${name}`);
      if (found === undefined) throw new RangeError(`the file of weights lacks ${name}`);
      return found;
    };
    const layer = (n: number, inputs: number, outputs: number, stride: number): Convolution => {
      const matrix = byColumns(named(`encoder.${n}.reparam_conv.weight`), outputs);
      return { matrix, bias: named(`encoder.${n}.reparam_conv.bias`), inputs, stride };
    };
    this.#layers = [
      layer(0, SPECTRUM_BINS, 128, 1),
      layer(1, 128, 64, 2),
      layer(2, 64, 64, 2),
      layer(3, 64, SILERO_HIDDEN, 1),
    ];
    this.#fromInput = byColumns(named("decoder.rnn.weight_ih"), 4 * SILERO_HIDDEN);
    this.#fromHidden = byColumns(named("decoder.rnn.weight_hh"), 4 * SILERO_HIDDEN);
    const biases = named("decoder.rnn.bias_hh");
    this.#gateBias = named("decoder.rnn.bias_ih").map((bias, at) => bias + (biases[at] ?? 0));
    this.#out = named("decoder.decoder.2.weight");
    this.#outBias = named("decoder.decoder.2.bias")[0] ?? 0;
  }

  /**
   * The probability of speech in a frame.
   *
   * @param sound `SILERO_CONTEXT` + `SILERO_FRAME` samples in -1..1
   * @param state hidden and cell state, `SILERO_HIDDEN` values each; goes on in place
   */
  probability(sound: Float32Array, state: Float32Array): number {
    let columns = this.#spectrogram(sound);
    for (const layer of this.#layers) columns = convolve(layer, columns);
    this.#step(columns[0] ?? new Float64Array(SILERO_HIDDEN), state);
    let sum = this.#outBias;
    for (let i = 0; i < SILERO_HIDDEN; i++) sum += (this.#out[i] ?? 0) * Math.max(0, state[i] ?? 0);
    return sigmoid(sum);
  }

  #spectrogram(sound: Float32Array): Float64Array[] {
    this.#sound.set(sound);
    for (let i = 0; i < MIRRORED; i++) this.#sound[SOUND + i] = sound[SOUND - 2 - i] ?? 0;
    return Array.from({ length: COLUMNS }, (_, column) => {
      const magnitudes = new Float64Array(SPECTRUM_BINS);
      spectrumOf(this.#sound, column * HOP, magnitudes);
      return magnitudes;
    });
  }

  /** One step of the LSTM cell; gates in the order input, forget, cell, output. */
  #step(input: Float64Array, state: Float32Array): void {
    const gates = this.#gates;
    gates.set(this.#gateBias);
    multiply(this.#fromInput, input, 0, 1, SILERO_HIDDEN, gates);
    multiply(this.#fromHidden, state, 0, 1, SILERO_HIDDEN, gates);
    for (let i = 0; i < SILERO_HIDDEN; i++) {
      const gate = (n: number): number => gates[n * SILERO_HIDDEN + i] ?? 0;
      const kept = sigmoid(gate(1)) * (state[SILERO_HIDDEN + i] ?? 0);
      const cell = kept + sigmoid(gate(0)) * Math.tanh(gate(2));
      state[SILERO_HIDDEN + i] = cell;
      state[i] = sigmoid(gate(3)) * Math.tanh(cell);
    }
  }
}

function convolve(layer: Convolution, columns: readonly Float64Array[]): Float64Array[] {
  const { matrix, bias, inputs, stride } = layer;
  const length = Math.floor((columns.length - 1) / stride) + 1;
  return Array.from({ length }, (_, at) => {
    const out = Float64Array.from(bias);
    for (let k = 0; k < 3; k++) {
      const column = columns[at * stride + k - 1];
      if (column !== undefined) multiply(matrix, column, k, 3, inputs, out);
    }
    for (let o = 0; o < out.length; o++) out[o] = Math.max(0, out[o] as number);
    return out;
  });
}

/**
 * Adds the product of a matrix and a vector, whose value i belongs to the matrix's input
 * `first + i * step`. Four inputs at a time: all the time of the network goes by here.
 */
function multiply(
  { values, outputs }: Matrix,
  vector: Float64Array | Float32Array,
  first: number,
  step: number,
  length: number,
  to: Float64Array,
): void {
  const row = step * outputs;
  let at = first * outputs;
  let i = 0;
  for (; i + 4 <= length; i += 4, at += 4 * row) {
    const a = vector[i] as number;
    const b = vector[i + 1] as number;
    const c = vector[i + 2] as number;
    const d = vector[i + 3] as number;
    for (let o = 0; o < outputs; o++) {
      to[o] =
        (to[o] as number) +
        a * (values[at + o] as number) +
        b * (values[at + row + o] as number) +
        c * (values[at + 2 * row + o] as number) +
        d * (values[at + 3 * row + o] as number);
    }
  }
  for (; i < length; i++, at += row) {
    const a = vector[i] as number;
    for (let o = 0; o < outputs; o++) to[o] = (to[o] as number) + a * (values[at + o] as number);
  }
}

function byColumns(matrix: Float32Array, outputs: number): Matrix {
  const inputs = matrix.length / outputs;
  const values = new Float64Array(matrix.length);
  for (let output = 0; output < outputs; output++) {
    for (let input = 0; input < inputs; input++) {
      values[input * outputs + output] = matrix[output * inputs + input] ?? 0;
    }
  }
  return { values, outputs };
}

function sigmoid(x: number): number {
  return 1 / (1 + Math.exp(-x));
}
