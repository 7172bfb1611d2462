import { join } from "node:path";
import { InferenceSession, Tensor } from "onnxruntime-node";
import { MEL_BANDS, melFilterBank } from "./mel-filter-bank.ts";
import { LONGEST_SEGMENTED } from "./voice-shapes.ts";

const FULL_SCALE = 32_768;
/** The smaller of the two. */
export const SEGMENTATION = "segmentation_3.onnx";

/**
 * The two networks by which voices are told apart: CAM++ (Wang and others 2023) turns speech of one
 * voice into a vector, pyannote's segmentation 3.0 (Plaquet and Bredin 2023) tells who of up to three
 * speaks when. A run blocks the thread although it returns a promise.
 */
export class VoiceNetworks {
  readonly #embedding: InferenceSession;
  readonly #segmentation: InferenceSession;

  /** Loads both networks from a folder. Rejects when a file is missing or is no such network. */
  static async load(
    folder: string,
    options: InferenceSession.SessionOptions,
  ): Promise<VoiceNetworks> {
    const open = (name: string) => InferenceSession.create(join(folder, name), options);
    return new VoiceNetworks(await open("campplus_zh_en_16k.onnx"), await open(SEGMENTATION));
  }

  private constructor(embedding: InferenceSession, segmentation: InferenceSession) {
    this.#embedding = embedding;
    this.#segmentation = segmentation;
  }

  /** A vector of unit length for speech of one voice, 16 kHz mono, at least `LEAST_EMBEDDED` samples. */
  async embed(pcm: Int16Array): Promise<Float32Array> {
    const rows = melFilterBank(pcm);
    const x = new Tensor("float32", rows, [1, rows.length / MEL_BANDS, MEL_BANDS]);
    const { embedding } = await this.#embedding.run({ x });
    return toUnitLength(numbersOf(embedding));
  }

  /**
   * Who of up to three voices speaks when in up to 10 s of sound, 16 kHz mono: for each frame of 16.9 ms
   * the logarithms of the probabilities of 7 classes (nobody, each of them alone, each pair).
   */
  async segment(pcm: Int16Array): Promise<Float32Array> {
    const sound = new Float32Array(LONGEST_SEGMENTED);
    for (let n = 0; n < pcm.length; n++) sound[n] = (pcm[n] as number) / FULL_SCALE;
    const x = new Tensor("float32", sound, [1, 1, sound.length]);
    const { y } = await this.#segmentation.run({ x });
    return numbersOf(y);
  }
}

function numbersOf(tensor: Tensor | undefined): Float32Array {
  if (tensor?.data instanceof Float32Array) return tensor.data;
  throw new Error("a network gave nothing");
}

function toUnitLength(values: Float32Array): Float32Array {
  const length = Math.sqrt(values.reduce((sum, value) => sum + value * value, 0));
  return values.map((value) => value / length);
}
