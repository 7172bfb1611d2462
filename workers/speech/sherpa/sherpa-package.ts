import { createRequire } from "node:module";
import { AppError, errorMessage } from "../../../src/base/errors.ts";

const PACKAGE = "sherpa-onnx-node";

/** Sound for the engine: samples from -1 to 1. */
interface Wave {
  samples: Float32Array;
  sampleRate: number;
}

/** What a recogniser found; times in seconds from the stream's first sample. */
export interface SherpaResult {
  text: string;
  tokens?: string[];
  timestamps?: number[];
}

interface SherpaStream {
  acceptWaveform(wave: Wave): void;
}

export interface OfflineRecogniser {
  createStream(): SherpaStream;
  /** Works on a thread of the native library. */
  decodeAsync(stream: SherpaStream): Promise<SherpaResult>;
}

/** What is used of sherpa-onnx-node, which has no types of its own. */
interface SherpaPackage {
  OfflineRecognizer: { createAsync(config: object): Promise<OfflineRecogniser> };
}

/** Loads the package. Throws AppError `engine_unavailable`, which says what is missing. */
export function loadSherpa(): SherpaPackage {
  const require = createRequire(import.meta.url);
  try {
    require.resolve(PACKAGE);
  } catch {
    throw new AppError(
      "engine_unavailable",
      `The package ${PACKAGE} is not installed: npm ci --include=optional brings it.`,
    );
  }
  try {
    return require(PACKAGE) as SherpaPackage;
  } catch (error) {
    const [reason] = errorMessage(error).split("\n");
    throw new AppError(
      "engine_unavailable",
      `${PACKAGE} has no build that runs on this machine (${process.platform}-${process.arch}: ${reason}).`,
    );
  }
}
