import { join } from "node:path";
import { InferenceSession, Tensor } from "onnxruntime-node";

const HEADS = 8;
const HEAD_SIZE = 36;

/** What the decoder needs of a piece of sound. */
export interface EncodedSound {
  frames: Tensor;
  mask: Tensor;
}

/** A text under way: the decoder's keys and values of the tokens before. */
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
 * The two networks of Moonshine tiny. A run blocks the thread although it returns a promise, so
 * this belongs on threads of its own. Loaded it takes about 120 MB.
 */
export class MoonshineNetwork {
  readonly #encoder: InferenceSession;
  readonly #decoder: InferenceSession;
  readonly #empty: Readonly<Record<string, Tensor>>;

  /** Loads both networks from a folder. Rejects when a file is missing or is no such network. */
  static async load(
    folder: string,
    options: InferenceSession.SessionOptions,
  ): Promise<MoonshineNetwork> {
    const open = (name: string) => InferenceSession.create(join(folder, name), options);
    const encoder = await open("encoder_model.ort");
    return new MoonshineNetwork(encoder, await open("decoder_model_merged.ort"));
  }

  private constructor(encoder: InferenceSession, decoder: InferenceSession) {
    this.#encoder = encoder;
    this.#decoder = decoder;
    const none = (): Tensor => new Tensor("float32", new Float32Array(0), [1, HEADS, 0, HEAD_SIZE]);
    const names = decoder.inputNames.filter((name) => name.startsWith("past_key_values."));
    this.#empty = Object.fromEntries(names.map((name) => [name, none()]));
  }

  /** @param sound samples at 16 kHz in -1..1 */
  async encode(sound: Float32Array): Promise<EncodedSound> {
    const mask = new Tensor("int64", new BigInt64Array(sound.length).fill(1n), [1, sound.length]);
    const input_values = new Tensor("float32", sound, [1, sound.length]);
    const { last_hidden_state } = await this.#encoder.run({ input_values, attention_mask: mask });
    if (last_hidden_state === undefined) throw new Error("the encoder gave nothing");
    return { frames: last_hidden_state, mask };
  }

  /** Reads the first tokens of a text, the begin token among them, in one run. */
  begin(sound: EncodedSound, tokens: readonly number[]): Promise<DecoderStep> {
    return this.#run(sound, tokens, { tensors: this.#empty, length: 0 });
  }

  /** Reads one token more. */
  next(sound: EncodedSound, token: number, cache: DecoderCache): Promise<DecoderStep> {
    return this.#run(sound, [token], cache);
  }

  async #run(
    { frames, mask }: EncodedSound,
    tokens: readonly number[],
    cache: DecoderCache,
  ): Promise<DecoderStep> {
    const goesOn = cache.length > 0;
    const outputs = await this.#decoder.run({
      input_ids: new Tensor("int64", BigInt64Array.from(tokens, BigInt), [1, tokens.length]),
      encoder_hidden_states: frames,
      encoder_attention_mask: mask,
      use_cache_branch: new Tensor("bool", [goesOn], [1]),
      ...cache.tensors,
    });
    const tensors: Record<string, Tensor> = { ...cache.tensors };
    for (const [name, tensor] of Object.entries(outputs)) {
      // The encoder's keys and values are made in the first run only.
      const isKept = goesOn && name.includes(".encoder.");
      if (name.startsWith("present.") && !isKept) {
        tensors[name.replace("present.", "past_key_values.")] = tensor;
      }
    }
    const logits = outputs.logits?.data;
    if (!(logits instanceof Float32Array)) throw new Error("the decoder gave no logits");
    return { logits, cache: { tensors, length: cache.length + tokens.length } };
  }
}

/** The cache of the first `length` tokens alone, as if the others had not been read. */
export function cutCache({ tensors, length: held }: DecoderCache, length: number): DecoderCache {
  if (length >= held) return { tensors, length: held };
  const cut = Object.entries(tensors).map(([name, tensor]): [string, Tensor] => {
    if (!name.includes(".decoder.")) return [name, tensor];
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
