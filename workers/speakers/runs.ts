import { sumBetween, type Within } from "./agglomerate.ts";
import { blockStarts } from "./blocks.ts";
import type { SpeechFrames } from "./feature-stream.ts";
import {
  cosineOf,
  type PlacedSketch,
  similarityOf,
  VECTOR_SIZE,
  VoiceSketch,
  vectorOf,
} from "./voice-sketch.ts";

/**
 * Neighbours that are less alike than this are not taken for one voice yet: what is cut here can
 * still get one label, what is not cut can never have two.
 */
const LEAST_SIMILARITY = -0.05;
/** A pause of this length speaks neither for nor against a change, in seconds. */
const USUAL_PAUSE = 0.15;
const LONGEST_PAUSE = 0.3;
/** Similarity that a second of pause is worth. */
const PAUSE_WEIGHT = 0.5;
const RATE = 16_000;
const FRAME = 160;

/** Neighbouring blocks of an utterance that seem to be of one voice. */
interface Run extends PlacedSketch {
  /** Its first frame. */
  from: number;
  within: Within | undefined;
}

interface Block extends PlacedSketch {
  from: number;
  /** The pause before it, in seconds. */
  pause: number;
}

/** Gives the embedding of frames of speech, where an operator has a network for it. */
type Embed = (speech: Pick<SpeechFrames, "starts">) => Float32Array | undefined;

/** Cuts the speech of an utterance into runs, in order. `mean` is the session's mean cepstrum. */
export function runsOf(speech: SpeechFrames, mean: Float64Array, embed?: Embed): Run[] {
  const blocks = blocksOf(speech, mean);
  const counts = blocks.map(({ sketch }) => sketch.count);
  const similarities = blocks.map((one) =>
    Float64Array.from(blocks, (other) => similarityOf(one, other)),
  );
  const runs = blocks.map((_, i) => [i]);
  const frames = (run: readonly number[]) => run.reduce((sum, i) => sum + (counts[i] ?? 0), 0);
  for (;;) {
    let [best, most] = [-1, LEAST_SIMILARITY];
    for (const [n, after] of runs.entries()) {
      const before = runs[n - 1];
      if (before === undefined) continue;
      const sum = sumBetween({ counts, similarities }, before, after);
      const pause = Math.min(LONGEST_PAUSE, blocks[after[0] ?? 0]?.pause ?? 0);
      const alike =
        sum / Math.max(1, frames(before) * frames(after)) + PAUSE_WEIGHT * (USUAL_PAUSE - pause);
      if (alike < most) continue;
      [best, most] = [n, alike];
    }
    const [after] = best < 0 ? [] : runs.splice(best, 1);
    if (after === undefined) break;
    runs[best - 1]?.push(...after);
  }
  const joined = runs.map((run) =>
    joinedBlocks(
      run.flatMap((i) => blocks[i] ?? []),
      mean,
    ),
  );
  if (embed === undefined) return joined;
  return joined.map((run, n) => {
    const starts = speech.starts.slice(run.from, joined[n + 1]?.from);
    return { ...run, embedding: embed({ starts }) };
  });
}

/** All of the speech as one run, whatever its blocks are like. */
export function wholeOf(speech: SpeechFrames, mean: Float64Array): Run {
  return joinedBlocks(blocksOf(speech, mean), mean);
}

function blocksOf(speech: SpeechFrames, mean: Float64Array): Block[] {
  const cuts = [0, ...blockStarts(speech)];
  return cuts.map((from, i) => {
    const sketch = VoiceSketch.of(speech, mean, from, cuts[i + 1]);
    const gap = (speech.starts[from] ?? 0) - (speech.starts[from - 1] ?? 0) - FRAME;
    const pause = from === 0 ? 0 : gap / RATE;
    return { from, pause, sketch, vector: vectorOf(sketch, mean) };
  });
}

function joinedBlocks(blocks: readonly Block[], mean: Float64Array): Run {
  const within: Within = { sum: 0, weight: 0 };
  let sketch = VoiceSketch.none;
  let vector = new Float32Array(VECTOR_SIZE);
  for (const [n, block] of blocks.entries()) {
    for (const other of blocks.slice(0, n)) {
      const weight = block.sketch.count * other.sketch.count;
      within.sum += weight * similarityOf(block, other);
      within.weight += weight;
    }
    const joined = sketch.joined(block.sketch, n === 0 ? 0 : cosineOf({ sketch, vector }, block));
    const share = block.sketch.count / Math.max(1, joined.count);
    vector = vector.map((each, at) => (1 - share) * each + share * (block.vector[at] ?? 0));
    sketch = joined;
  }
  const { sum, weight } = within;
  return {
    from: blocks[0]?.from ?? 0,
    sketch,
    vector: vectorOf(sketch, mean),
    within: weight > 0 ? { sum: Math.fround(sum), weight: Math.fround(weight) } : undefined,
  };
}
