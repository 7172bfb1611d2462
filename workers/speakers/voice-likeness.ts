import { cosine } from "./voice-vectors.ts";

interface VoiceLikeness {
  cluster: number;
  /** Cosine to the cluster's mean. */
  likeness: number;
}

/** How much a difference of cosines tells: the slope of a logistic curve. */
const SLOPE = 12;
/** What the cosine to another voice is, for a session that has only one. */
const OTHER_VOICE = 0.25;

/** The voices by how like the vector is to them, the likest first. */
export function likestVoices(
  means: ReadonlyMap<number, Float32Array>,
  vector: Float32Array,
): VoiceLikeness[] {
  return [...means]
    .map(([cluster, mean]) => ({ cluster, likeness: cosine(mean, vector) }))
    .sort((a, b) => b.likeness - a.likeness || a.cluster - b.cluster);
}

/** How likely the vector is of the cluster rather than of the next likely voice, 0..1. */
export function certaintyOf(
  means: ReadonlyMap<number, Float32Array>,
  vector: Float32Array,
  cluster: number,
): number {
  const voices = likestVoices(means, vector);
  const own = voices.find((voice) => voice.cluster === cluster)?.likeness ?? 0;
  const other = voices.find((voice) => voice.cluster !== cluster)?.likeness ?? OTHER_VOICE;
  return 1 / (1 + Math.exp(-SLOPE * (own - other)));
}
