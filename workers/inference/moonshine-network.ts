import { join } from "node:path";
import { InferenceSession, Tensor } from "onnxruntime-node";
import {
  BLOCK_FRAMES,
  BLOCK_STRIDE,
  FEATURES,
  type FeatureBlock,
  type FeatureBlocks,
} from "./feature-blocks.ts";

const HEADS = 8;
const HEAD_SIZE = 36;
/** Samples of a step of the frontend's first convolution, and of a frame, which is one of its second. */
const STEP_SAMPLES = 127;
const STEP_STRIDE = 64;
const FRAME_SAMPLES = 511;
const FRAME_STRIDE = 192;
/** Of the first convolution, over all of which the encoder normalises. */
const CHANNELS = 288;
const EPSILON = 1e-5;
/** Products of signed weights saturate on processors without VNNI, unless onnxruntime may turn the weights. */
const EXACT = { session: { x64quantprecision: "1" } };

/** What the decoder needs of a piece of sound: keys and values of each layer, [1, 8, frames, 36]. */
export type EncodedSound = Readonly<Record<string, Tensor>>;

/** A text under way: the decoder's keys and values of the tokens before, [1, 8, length, 36] each. */
interface DecoderCache {
  readonly tensors: Readonly<Record<string, Tensor>>;
  /** Tokens that it holds. */
  readonly length: number;
}

/** The decoder's answer: what it thinks of the token after each of those it was given. */
export interface DecoderStep {
  /** [tokens, vocabulary], row by row. */
  logits: Float32Array;
  cache: DecoderCache;
}

/**
 * The three networks of Moonshine tiny. A run blocks the thread although it returns a promise, so
 * this belongs on threads of its own. Loaded it takes about 120 MB.
 */
export class MoonshineNetwork {
  readonly #frontend: InferenceSession;
  readonly #encoder: InferenceSession;
  readonly #decoder: InferenceSession;
  readonly #empty: DecoderCache;

  /** Loads the networks from a folder. Rejects when a file is missing or is no such network. */
  static async load(
    folder: string,
    options: InferenceSession.SessionOptions,
  ): Promise<MoonshineNetwork> {
    const open = (name: string) =>
      InferenceSession.create(join(folder, name), { ...options, extra: EXACT });
    const frontend = await open("frontend.onnx");
    const encoder = await open("encoder.onnx");
    return new MoonshineNetwork(frontend, encoder, await open("decoder.onnx"));
  }

  private constructor(
    frontend: InferenceSession,
    encoder: InferenceSession,
    decoder: InferenceSession,
  ) {
    this.#frontend = frontend;
    this.#encoder = encoder;
    this.#decoder = decoder;
    const none = (): Tensor => new Tensor("float32", new Float32Array(0), [1, HEADS, 0, HEAD_SIZE]);
    const names = decoder.inputNames.filter((name) => name.startsWith("past."));
    this.#empty = { tensors: Object.fromEntries(names.map((name) => [name, none()])), length: 0 };
  }

  /**
   * @param sound samples at 16 kHz in -1..1, at least some 60 ms
   * @param known what the frontend made of the sound's beginning before; what it makes now is added
   */
  async encode(sound: Float32Array, known?: FeatureBlocks): Promise<EncodedSound> {
    const frames = Math.floor((sound.length - FRAME_SAMPLES) / FRAME_STRIDE) + 1;
    const features = new Float32Array(Math.max(1, frames) * FEATURES);
    let [sum, squares] = [0, 0];
    // The last block is another one each time: it also has the sound behind its frames.
    const last = Math.max(0, Math.ceil(frames / BLOCK_FRAMES) - 1);
    for (let at = 0; at <= last; at++) {
      const stored = at < last ? known?.at(at) : undefined;
      const block = stored ?? (await this.#block(sound, at, at === last));
      if (at < last && stored === undefined) known?.store(at, block);
      features.set(block.features, at * BLOCK_FRAMES * FEATURES);
      sum += block.sum;
      squares += block.squares;
    }
    const steps = Math.floor((sound.length - STEP_SAMPLES) / STEP_STRIDE) + 1;
    const mean = sum / (steps * CHANNELS);
    const variance = Math.max(0, squares / (steps * CHANNELS) - mean * mean);
    const { cross } = await this.#encoder.run({
      features: new Tensor("float32", features, [1, features.length / FEATURES, FEATURES]),
      mean: scalar(mean),
      scale: scalar(1 / Math.sqrt(variance + EPSILON)),
    });
    if (cross === undefined) throw new Error("the encoder gave nothing");
    return layersOf(cross);
  }

  async #block(sound: Float32Array, at: number, isLast: boolean): Promise<FeatureBlock> {
    const from = at * BLOCK_STRIDE;
    const to = isLast ? sound.length : from + BLOCK_STRIDE + FRAME_SAMPLES - FRAME_STRIDE;
    const samples = new Tensor("float32", sound.subarray(from, to), [1, to - from]);
    const { features, sums, squares } = await this.#frontend.run({ sound: samples });
    if (!features || !sums || !squares) throw new Error("the frontend gave nothing");
    // The next block has the steps behind these as well.
    const steps = isLast ? sums.size : BLOCK_STRIDE / STEP_STRIDE;
    return {
      features: features.data as Float32Array,
      sum: sumOf(sums, steps),
      squares: sumOf(squares, steps),
    };
  }

  /** Reads the first tokens of a text, the begin token among them, in one run. */
  begin(sound: EncodedSound, tokens: readonly number[]): Promise<DecoderStep> {
    return this.#run(sound, tokens, this.#empty);
  }

  /** Reads one token more. */
  next(sound: EncodedSound, token: number, cache: DecoderCache): Promise<DecoderStep> {
    return this.#run(sound, [token], cache);
  }

  async #run(
    sound: EncodedSound,
    tokens: readonly number[],
    cache: DecoderCache,
  ): Promise<DecoderStep> {
    const { logits, ...present } = await this.#decoder.run({
      tokens: new Tensor("int64", BigInt64Array.from(tokens, BigInt), [1, tokens.length]),
      position: new Tensor("int64", BigInt64Array.of(BigInt(cache.length)), [1]),
      ...sound,
      ...cache.tensors,
    });
    if (!(logits?.data instanceof Float32Array)) throw new Error("the decoder gave no logits");
    const tensors = Object.fromEntries(
      Object.entries(present).map(([name, each]) => [name.replace("present.", "past."), each]),
    );
    return { logits: logits.data, cache: { tensors, length: cache.length + tokens.length } };
  }
}

/** Keys and values, of which each layer of the decoder has its own, from [12, 1, 8, frames, 36]. */
function layersOf(cross: Tensor): EncodedSound {
  const [parts = 0, ...shape] = cross.dims;
  const data = cross.data as Float32Array;
  const size = data.length / parts;
  return Object.fromEntries(
    Array.from({ length: parts }, (_, n) => {
      const name = `cross.${Math.floor(n / 2)}.${n % 2 === 0 ? "key" : "value"}`;
      return [name, new Tensor("float32", data.subarray(n * size, (n + 1) * size), shape)];
    }),
  );
}

function scalar(value: number): Tensor {
  return new Tensor("float32", Float32Array.of(value), [1]);
}

function sumOf({ data }: Tensor, count: number): number {
  return (data as Float32Array).subarray(0, count).reduce((total, value) => total + value, 0);
}

/** The cache of the first `length` tokens alone, as if the others had not been read. */
export function cutCache({ tensors, length: held }: DecoderCache, length: number): DecoderCache {
  if (length >= held) return { tensors, length: held };
  const cut = Object.entries(tensors).map(([name, tensor]): [string, Tensor] => {
    const from = tensor.data as Float32Array;
    const to = new Float32Array(HEADS * length * HEAD_SIZE);
    for (let head = 0; head < HEADS; head++) {
      const start = head * held * HEAD_SIZE;
      to.set(from.subarray(start, start + length * HEAD_SIZE), head * length * HEAD_SIZE);
    }
    return [name, new Tensor("float32", to, [1, HEADS, length, HEAD_SIZE])];
  });
  return { tensors: Object.fromEntries(cut), length };
}
