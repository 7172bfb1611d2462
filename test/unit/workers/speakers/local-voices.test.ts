import { describe, expect, it } from "vitest";
import { localVoices } from "../../../../workers/speakers/local-voices.ts";
import {
  VOICE_CLASSES,
  VOICE_FRAME,
  VOICE_FRAME_FIELD,
} from "../../../../workers/speakers/voice-analysis.ts";

const SECOND = 16_000;

type Spoken = readonly { from: number; to: number; voice: number }[];

/** What the network would say of [start, end) seconds, where `numbers` are its names of the voices. */
function windowOf(start: number, end: number, spoken: Spoken, numbers: readonly number[]) {
  const samples = (end - start) * SECOND;
  const frames = Math.floor((samples - VOICE_FRAME_FIELD) / VOICE_FRAME) + 1;
  const classes = VOICE_CLASSES.length;
  const scores = new Float32Array(frames * classes).fill(-9);
  for (let frame = 0; frame < frames; frame++) {
    const at = start + (frame * VOICE_FRAME + VOICE_FRAME_FIELD / 2) / SECOND;
    const voices = spoken
      .filter(({ from, to }) => from <= at && at < to)
      .map(({ voice }) => numbers[voice] ?? 0)
      .sort();
    const found = VOICE_CLASSES.findIndex((each) => `${each}` === `${voices}`);
    scores[frame * classes + found] = 0;
  }
  return { start: start * SECOND, end: end * SECOND, scores };
}

function turnsIn(found: ReturnType<typeof localVoices>) {
  return found.turns.map(({ voice, start, end, spokenTo }) => {
    const [from, to, spoken] = [start, end, spokenTo].map((at) => Math.round(at / 1_600) / 10);
    return { voice, from, to, spoken };
  });
}

describe("voices of an utterance", () => {
  it("local voices: turns cover the utterance, and tell where their speech ends", () => {
    const spoken = [
      { from: 0.3, to: 3, voice: 0 },
      { from: 3.4, to: 6, voice: 1 },
    ];
    const found = localVoices([windowOf(0, 7, spoken, [0, 1])], 0, 7 * SECOND);
    expect(turnsIn(found)).toEqual([
      { voice: 0, from: 0, to: 3.4, spoken: 3 },
      { voice: 1, from: 3.4, to: 7, spoken: 6 },
    ]);
  });

  it("local voices: who is named otherwise in the next window is the same, and others are not", () => {
    const spoken = [
      { from: 0, to: 6, voice: 0 },
      { from: 6, to: 12, voice: 1 },
      { from: 12, to: 15, voice: 2 },
      { from: 15, to: 18, voice: 0 },
    ];
    const windows = [windowOf(0, 10, spoken, [0, 1, 2]), windowOf(8, 18, spoken, [2, 1, 0])];
    const voices = localVoices(windows, 0, 18 * SECOND).turns.map(({ voice }) => voice);
    expect(voices).toHaveLength(4);
    expect(new Set(voices.slice(0, 3)).size).toBe(3);
  });

  it("local voices: a flicker parts no turn, and who joins in does not take over", () => {
    const spoken = [
      { from: 0, to: 6, voice: 0 },
      { from: 2, to: 2.1, voice: 1 },
      { from: 3, to: 4, voice: 1 },
    ];
    const found = localVoices([windowOf(0, 6, spoken, [0, 1])], 0, 6 * SECOND);
    expect(found.turns).toHaveLength(1);
    const { own, speech, overlap } = found.sharesIn(3 * SECOND, 4 * SECOND, 0);
    expect(speech).toBe(1);
    expect(overlap).toBeGreaterThan(0.9);
    expect(own).toBeLessThan(0.1);
  });

  it("local voices: an overlap is told with whose turn it is not; a hesitation of 0.1 s is none", () => {
    const spoken = [
      { from: 0, to: 6, voice: 0 },
      { from: 2, to: 2.1, voice: 1 },
      { from: 5, to: 10, voice: 1 },
      { from: 8, to: 8.4, voice: 0 },
      { from: 8.5, to: 9, voice: 0 },
    ];
    const { overlaps, turns } = localVoices([windowOf(0, 10, spoken, [0, 1])], 0, 10 * SECOND);
    expect(turns).toHaveLength(2);
    expect(
      overlaps.map(({ voice, start, end }) => [
        voice,
        ...[start, end].map((at) => Math.round(at / 1_600) / 10),
      ]),
    ).toEqual([
      [1, 5, 6],
      [0, 8, 9],
    ]);
  });

  it("local voices: what is told behind the end of the sound is of nobody", () => {
    const spoken = [
      { from: 0, to: 2, voice: 0 },
      { from: 3, to: 6, voice: 1 },
    ];
    const window = { ...windowOf(0, 7, spoken, [0, 1]), end: 2.5 * SECOND };
    const found = localVoices([window], 0, 2.5 * SECOND);
    expect(turnsIn(found)).toEqual([{ voice: 0, from: 0, to: 2.5, spoken: 2 }]);
  });

  it("local voices: where nobody speaks there is no turn", () => {
    expect(localVoices([windowOf(0, 3, [], [])], 0, 3 * SECOND).turns).toEqual([]);
  });
});
