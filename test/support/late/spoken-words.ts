import { SAMPLE_RATE } from "../../../src/session/timeline.ts";
import { SeededRandom } from "../seeded-random.ts";

export interface SpokenWord {
  text: string;
  /** Samples from the beginning of the recording. */
  start: number;
  end: number;
  speaker: number;
}

/** What was said in so many samples: two people by turns, words that name themselves, pauses. */
export function speak(seed: number, samples: number): SpokenWord[] {
  const random = new SeededRandom(seed);
  const words: SpokenWord[] = [];
  const within = (from: number, to: number): number =>
    from + random.below(Math.round((to - from) * SAMPLE_RATE)) / SAMPLE_RATE;
  let speaker = 0;
  let at = within(0.3, 0.9);
  for (;;) {
    for (let left = 3 + random.below(6); left > 0; left -= 1) {
      const start = Math.round(at * SAMPLE_RATE);
      at += within(0.2, 0.5);
      const end = Math.round(at * SAMPLE_RATE);
      if (end > samples) return words;
      words.push({ text: `w${words.length}`, start, end, speaker });
      at += within(0.02, 0.08);
    }
    at += within(0.6, 1.2);
    if (random.below(2) === 0) speaker = 1 - speaker;
  }
}

/** Of a recording: which of its samples a chunk holds. */
export function toSound(from: number, samples: number): Buffer {
  return Buffer.from(JSON.stringify({ from, samples }));
}

export function fromSound(data: Uint8Array): { from: number; samples: number } {
  return JSON.parse(Buffer.from(data).toString("utf8")) as { from: number; samples: number };
}
