import {
  type PendingNumbers,
  VOICE_CLASSES,
  VOICE_FRAME,
  VOICE_FRAME_FIELD,
  type VoiceAnalysis,
} from "../../workers/speakers/voice-analysis.ts";
import { SeededRandom } from "./seeded-random.ts";

const SIZE = 32;
/** Samples of one voice have this times its number plus one as their value; silence is 0. */
const STEP = 100;
/** How far the vectors of a voice are from its own: cosines of about 0.5, as of people. */
const SPREAD = 0.17;

/**
 * Sound of a voice, by its number from 0; with `other` two speak at once. Every other sample tells the
 * voices; those between are noise by `seed`, by which vectors of one voice differ.
 */
export function codedSound(
  seconds: number,
  { voice, other, seed }: { voice: number; other?: number; seed: number },
): Int16Array {
  const value = (voice + 1) * STEP + (other === undefined ? 0 : other + 1);
  const random = new SeededRandom(seed);
  return Int16Array.from({ length: Math.round(seconds * 16_000) }, (_, at) =>
    at % 2 === 0 ? value : random.below(30_000),
  );
}

/** Knows the voices of `codedSound` by the values of the samples, in place of networks. */
export class CodedVoices implements VoiceAnalysis {
  readonly name: string;
  readonly vectorSize = SIZE;
  asked = 0;
  /** Answers that are held back come with `release`. */
  isHolding = false;
  #held: (() => void)[] = [];
  #onNews: (() => void) | undefined;

  constructor(name = "coded") {
    this.name = name;
  }

  embed(pcm: Int16Array): PendingNumbers {
    return this.#answer(() => vectorOf(pcm));
  }

  segment(pcm: Int16Array): PendingNumbers {
    return this.#answer(() => scoresOf(pcm));
  }

  onNews(listener: (() => void) | undefined): void {
    this.#onNews = listener;
  }

  release(): void {
    const held = this.#held;
    this.#held = [];
    for (const give of held) give();
    this.#onNews?.();
  }

  #answer(make: () => Float32Array): PendingNumbers {
    this.asked += 1;
    let numbers: Float32Array | undefined;
    let settle: () => void = () => undefined;
    const settled = new Promise<void>((resolve) => {
      settle = resolve;
    });
    const give = (): void => {
      numbers = make();
      settle();
    };
    if (this.isHolding) this.#held.push(give);
    else give();
    return {
      get numbers() {
        return numbers;
      },
      settled,
      drop: () => undefined,
    };
  }
}

/** The axis of the voice that speaks most, and something of the place that is the same every time. */
function vectorOf(pcm: Int16Array): Float32Array {
  const shares = new Float32Array(SIZE);
  let seed = pcm.length;
  for (let at = 0; at < pcm.length; at += 16) {
    seed = (Math.imul(seed, 31) + (pcm[at + 1] ?? 0)) >>> 0;
    const { voices } = decode(pcm[at] ?? 0);
    for (const voice of voices) shares[voice] = (shares[voice] ?? 0) + 16 / pcm.length;
  }
  const random = new SeededRandom(seed);
  const vector = shares.map((share) => share + SPREAD * gaussian(random));
  const length = Math.sqrt(vector.reduce((sum, value) => sum + value * value, 0));
  return vector.map((value) => value / length);
}

function gaussian(random: SeededRandom): number {
  return Math.sqrt(-2 * Math.log(1 - random.next())) * Math.cos(2 * Math.PI * random.next());
}

function scoresOf(pcm: Int16Array): Float32Array {
  const classes = VOICE_CLASSES.length;
  const frames = Math.max(0, Math.floor((pcm.length - VOICE_FRAME_FIELD) / VOICE_FRAME) + 1);
  const scores = new Float32Array(frames * classes).fill(-5);
  const local: number[] = [];
  for (let frame = 0; frame < frames; frame++) {
    const { voices } = decode(pcm[frame * VOICE_FRAME + (VOICE_FRAME_FIELD >> 2) * 2] ?? 0);
    for (const voice of voices) if (!local.includes(voice)) local.push(voice);
    const numbers = voices.map((voice) => local.indexOf(voice)).sort();
    const found = VOICE_CLASSES.findIndex((each) => `${each}` === `${numbers}`);
    scores[frame * classes + Math.max(0, found)] = 0;
  }
  return scores;
}

function decode(value: number): { voices: number[] } {
  if (value === 0) return { voices: [] };
  const [voice, other] = [Math.floor(value / STEP) - 1, (value % STEP) - 1];
  return { voices: other < 0 ? [voice] : [voice, other] };
}
