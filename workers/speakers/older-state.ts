import { CEPSTRA } from "../voices/mel-cepstrum.ts";
import { LOG_COVARIANCE_SIZE } from "./log-covariance.ts";
import type { StateReader } from "./state-codec.ts";
import type { VoicePiece, VoiceRegistry } from "./voice-registry.ts";
import { VoiceSketch } from "./voice-sketch.ts";

/** Frames came 40 ms apart. */
const OLD_SHIFT = 4;

/**
 * Reads what versions 1 and 2 kept, which was the sums of each segment's cepstra: where the audio
 * was, and the voices as far as means and covariances tell them. Frames of an utterance under way
 * are not taken over: they are of another kind.
 */
export function readOlderState(
  from: StateReader,
  version: 1 | 2,
  registry: VoiceRegistry,
): { position: number; peak: number; noise: number } {
  const position = from.float64();
  const [peak, noise] = [from.float64(), from.float64()];
  from.bytes();
  const frames = from.uint32();
  for (let n = 0; n < frames; n++) from.float64();
  for (let n = 0; n < frames * CEPSTRA; n++) from.float32();
  registry.nextCluster = from.uint32();
  for (let count = from.uint32(); count > 0; count--) {
    const { cluster, starts } = version === 1 ? segment(from) : piece(from);
    const voice = statistics(from);
    registry.heard({ sums: voice.sums.map((sum) => OLD_SHIFT * sum), frames: voice.count });
    registry.add({
      starts,
      cluster,
      sketch: sketchOf(voice),
      within: undefined,
      utterance: undefined,
    });
  }
  return { position, peak, noise };
}

function segment(from: StateReader): Pick<VoicePiece, "cluster" | "starts"> {
  const start = from.float64();
  // The end of the segment, which is not needed.
  from.float64();
  return { starts: [start], cluster: from.int32() };
}

function piece(from: StateReader): Pick<VoicePiece, "cluster" | "starts"> {
  const cluster = from.int32();
  const starts: number[] = [];
  for (let n = from.uint32(); n > 0; n--) {
    const before = starts.at(-1);
    starts.push(before === undefined ? from.float64() : before + from.uint32());
  }
  return { cluster, starts };
}

interface Statistics {
  /** Frames, counted as if they had come 10 ms apart. */
  count: number;
  sums: Float64Array;
  products: Float64Array;
}

function statistics(from: StateReader): Statistics {
  const count = OLD_SHIFT * from.uint32();
  const sums = Float64Array.from({ length: CEPSTRA }, () => from.float32());
  const products = Float64Array.from({ length: LOG_COVARIANCE_SIZE }, () => from.float32());
  return { count, sums, products };
}

function sketchOf({ count, sums, products }: Statistics): VoiceSketch {
  if (count === 0) return VoiceSketch.none;
  const scaled = (values: Float64Array) => values.map((value) => OLD_SHIFT * value);
  return VoiceSketch.ofMoments(count, scaled(sums), scaled(products));
}
