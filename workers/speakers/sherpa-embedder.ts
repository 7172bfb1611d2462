import { createRequire } from "node:module";
import { errorMessage } from "../../src/base/errors.ts";
import { type SpeakerModel, SpeakerModelError, stampOf } from "./speaker-model.ts";
import { LEAST_EMBEDDED_SAMPLES, type VoiceEmbedder } from "./voice-embedder.ts";

const PACKAGE = "sherpa-onnx-node";
const SAMPLE_RATE = 16_000;
const FULL_SCALE = 32_768;

/** What is used of sherpa-onnx-node, which has no types of its own. */
interface SherpaPackage {
  SpeakerEmbeddingExtractor: new (config: ExtractorConfig) => Extractor;
}

interface ExtractorConfig {
  /** Path of the ONNX file. */
  model: string;
  numThreads: number;
  provider: "cpu";
}

interface Extractor {
  createStream(): ExtractorStream;
  /** With `isExternal` the vector is memory that the native side owns. */
  compute(stream: ExtractorStream, isExternal: boolean): Float32Array;
}

interface ExtractorStream {
  /** Samples from -1 to 1. */
  acceptWaveform(wave: { samples: Float32Array; sampleRate: number }): void;
  inputFinished(): void;
}

/**
 * Embeddings of an operator's network by sherpa-onnx, on the calling thread alone. The package is
 * loaded with the first network, and each thread holds a network of its own.
 *
 * What the native side holds for one call (60 to 130 kB) is freed in a later turn of the event
 * loop, after V8 has collected it: thousands of calls in one turn let memory grow.
 */
export class SherpaEmbedder implements VoiceEmbedder {
  readonly name: string;
  readonly dimension: number;
  #extractor: Extractor | undefined;

  private constructor(model: SpeakerModel, extractor: Extractor) {
    this.name = `sherpa-onnx/${model.name}`;
    this.dimension = model.dimension;
    this.#extractor = extractor;
  }

  /**
   * Loads a network that was tried out before, because the native library ends the process at one
   * that it cannot use. Rejects with SpeakerModelError.
   */
  static async load(model: SpeakerModel): Promise<SherpaEmbedder> {
    const { SpeakerEmbeddingExtractor } = loadPackage();
    if ((await stampOf(model.path).catch(errorMessage)) !== model.stamp) {
      throw new SpeakerModelError(
        `SPEAKER_MODEL_DIR: ${model.path} is not the file any more that was there when the worker started: restart the worker to use what is there now`,
      );
    }
    const config: ExtractorConfig = { model: model.path, numThreads: 1, provider: "cpu" };
    return new SherpaEmbedder(model, new SpeakerEmbeddingExtractor(config));
  }

  embed(samples: Int16Array): Float32Array | undefined {
    if (this.#extractor === undefined) throw new Error("The embedder is closed.");
    if (samples.length < LEAST_EMBEDDED_SAMPLES) {
      throw new RangeError(
        `An embedding needs ${LEAST_EMBEDDED_SAMPLES} samples, not ${samples.length}.`,
      );
    }
    const stream = this.#extractor.createStream();
    const scaled = Float32Array.from(samples, (sample) => sample / FULL_SCALE);
    stream.acceptWaveform({ samples: scaled, sampleRate: SAMPLE_RATE });
    stream.inputFinished();
    return ofUnitLength(this.#extractor.compute(stream, false));
  }

  close(): void {
    this.#extractor = undefined;
  }
}

/** Undefined for a vector that points nowhere. */
function ofUnitLength(vector: Float32Array): Float32Array | undefined {
  const length = Math.hypot(...vector);
  if (!Number.isFinite(length) || length === 0) return undefined;
  return vector.map((value) => value / length);
}

function loadPackage(): SherpaPackage {
  const require = createRequire(import.meta.url);
  try {
    require.resolve(PACKAGE);
  } catch {
    throw new SpeakerModelError(
      `SPEAKER_MODEL_DIR needs the package ${PACKAGE}, which is not installed: npm ci --include=optional brings it, or leave the setting out`,
    );
  }
  try {
    return require(PACKAGE) as SherpaPackage;
  } catch (error) {
    const [reason] = errorMessage(error).split("\n");
    throw new SpeakerModelError(
      `SPEAKER_MODEL_DIR: ${PACKAGE} has no build that runs on this machine (${process.platform}-${process.arch}: ${reason}); it has some for Linux with glibc on x64 and arm64: leave the setting out here`,
    );
  }
}
