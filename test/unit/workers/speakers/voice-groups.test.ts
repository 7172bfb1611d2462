import { describe, expect, it } from "vitest";
import { speakerBackground } from "../../../../workers/speakers/background.ts";
import { blockStarts } from "../../../../workers/speakers/blocks.ts";
import { LOG_COVARIANCE_SIZE, logCovariance } from "../../../../workers/speakers/log-covariance.ts";
import { SPEECH_COVARIANCE } from "../../../../workers/speakers/speech-covariance.ts";
import {
  confidenceOf,
  groupVoices,
  nearestGroup,
  type Sequence,
} from "../../../../workers/speakers/voice-groups.ts";
import { voiceModel } from "../../../../workers/voices/voice-model.ts";
import { seededRandom } from "../../../eval/made-conversation.ts";

const FINAL = { rounds: 4, leastFrames: 250 };

/**
 * A session in which each utterance is of the voice that is named. Stretches of one voice are alike
 * by `within` of that voice, those of two by `between`, all with some noise.
 */
function session(
  voices: readonly number[],
  { within, between, noise = 0.03 }: { within: number[]; between: number; noise?: number },
): Sequence {
  const random = seededRandom(3);
  const similarities = voices.map(() => new Float64Array(voices.length));
  for (const [i, one] of voices.entries()) {
    for (const [j, other] of voices.slice(0, i).entries()) {
      const mean = one === other ? (within[one] ?? 0) : between;
      const similarity = mean + noise * (random() + random() - 1);
      const [row, column] = [similarities[i], similarities[j]];
      if (row) row[j] = similarity;
      if (column) column[i] = similarity;
    }
  }
  return {
    similarities,
    counts: voices.map(() => 200),
    within: voices.map(() => undefined),
    utterances: voices.map((_, i) => i),
  };
}

function voicesFound(groups: readonly number[][], count: number): number[] {
  return Array.from({ length: count }, (_, i) => groups.findIndex((group) => group.includes(i)));
}

function turns(count: number, speakers: number): number[] {
  return Array.from({ length: count }, (_, i) => i % speakers);
}

describe("voice groups", () => {
  it("voice groups: finds as many voices as speak, whatever their own variety", () => {
    for (const speakers of [1, 2, 3, 4]) {
      const voices = turns(24, speakers);
      for (const within of [
        [0.2, 0.2, 0.2, 0.2],
        [0.05, 0.2, 0.1, 0.15],
      ]) {
        const groups = groupVoices(session(voices, { within, between: -0.3 }), FINAL);
        expect(groups).toHaveLength(speakers);
        const found = voicesFound(groups, voices.length);
        for (const [i, voice] of voices.entries()) expect(found[i]).toBe(found[voice]);
      }
    }
  });

  it("voice groups: keeps a lively voice whole that an even one's threshold would split", () => {
    const voices = [...turns(12, 2), ...turns(12, 2)];
    const sequence = session(voices, { within: [-0.05, 0.25], between: -0.35, noise: 0.06 });
    expect(groupVoices(sequence, FINAL)).toHaveLength(2);
  });

  it("voice groups: gives little speech to the nearest voice", () => {
    const voices = [0, 1, 0, 1, 2];
    const sequence = session(voices, { within: [0.2, 0.2, 0.2], between: -0.3 });
    const counts = [300, 300, 300, 300, 60];
    const near = sequence.similarities.map((row, i) =>
      row.map((each, j) => (i + j === 4 + 1 || i + j === 4 + 3 ? each + 0.1 : each)),
    );
    const groups = groupVoices({ ...sequence, counts, similarities: near }, FINAL);
    expect(groups).toHaveLength(2);
    expect(groups.find((group) => group.includes(4))).toContain(1);
  });

  it("voice groups: leaves out what has no speech, and has none where nobody spoke", () => {
    const sequence = session([0, 0, 0], { within: [0.2], between: 0 });
    const groups = groupVoices({ ...sequence, counts: [200, 0, 200] }, FINAL);
    expect(groups.flat().sort()).toEqual([0, 2]);
    expect(groupVoices(session([], { within: [], between: 0 }), FINAL)).toEqual([]);
  });

  it("voice groups: a change within an utterance has to be worth it", () => {
    const voices = [0, 0, 0, 1, 1, 1, 0, 1];
    const sequence = session(voices, { within: [0.2, 0.2], between: -0.3, noise: 0 });
    // The last stretch is short and only a little nearer to the second voice.
    const counts = [200, 200, 200, 200, 200, 200, 200, 40];
    const similarities = sequence.similarities.map((row, i) =>
      row.map((each, j) => (i === 7 || j === 7 ? (voices[i + j - 7] === 1 ? 0.02 : -0.02) : each)),
    );
    const apart = { ...sequence, counts, similarities };
    const together = { ...apart, utterances: [0, 1, 2, 3, 4, 5, 6, 6] };
    const voiceOf = (each: Sequence) => voicesFound(groupVoices(each, FINAL), 8);
    expect(voiceOf(apart)[7]).toBe(voiceOf(apart)[3]);
    expect(voiceOf(together)[7]).toBe(voiceOf(together)[6]);
  });

  it("voice groups: is surer of what is nearer to its voice, and unsure of the first words", () => {
    const sequence = session([0, 1, 0, 1], { within: [0.2, 0.2], between: -0.3, noise: 0 });
    const groups = [
      [0, 2],
      [1, 3],
    ];
    expect(confidenceOf(sequence, groups, 2)).toBeGreaterThan(0.95);
    const doubtful = sequence.similarities.map((row) => row.map((each) => each / 10));
    const unsure = confidenceOf({ ...sequence, similarities: doubtful }, groups, 2);
    expect(unsure).toBeGreaterThan(0.5);
    expect(unsure).toBeLessThan(0.7);
    expect(confidenceOf(sequence, [[0]], 0)).toBe(0);
  });

  it("voice groups: names nobody for what is like no voice", () => {
    expect(nearestGroup([200, 200], [[0], [1]], Float64Array.of(0.1, -0.3))).toBe(0);
    expect(nearestGroup([200, 200], [[0], [1]], Float64Array.of(-0.2, -0.3))).toBe(-1);
    expect(nearestGroup([], [], new Float64Array(0))).toBe(-1);
  });
});

describe("blocks of speech", () => {
  const speech = (pauses: Record<number, number>, frames: number) => {
    const starts: number[] = [];
    for (let n = 0, at = 0; n < frames; n++, at += 160) {
      at += pauses[n] ?? 0;
      starts.push(at);
    }
    return { starts };
  };

  it("blocks of speech: end at pauses that leave enough on both sides", () => {
    expect(blockStarts(speech({ 70: 3200, 90: 1600, 200: 1600 }, 260))).toEqual([70, 200]);
    expect(blockStarts(speech({ 20: 3200 }, 90))).toEqual([]);
  });

  it("blocks of speech: are cut in the middle where nobody pauses", () => {
    expect(blockStarts(speech({}, 300))).toEqual([150]);
    expect(blockStarts(speech({}, 200))).toEqual([]);
    expect(blockStarts(speech({}, 0))).toEqual([]);
  });
});

describe("covariances and backgrounds", () => {
  it("logarithm of a covariance: is that of its eigenvalues, and nothing for usual speech", () => {
    const none = logCovariance(0, new Float64Array(19), new Float64Array(LOG_COVARIANCE_SIZE));
    const usual = logCovariance(
      10_000,
      new Float64Array(19),
      SPEECH_COVARIANCE.map((c) => 10_000 * c),
    );
    for (const [n, value] of usual.entries()) expect(value).toBeCloseTo(none[n] ?? 0, 5);
    const wide = logCovariance(
      10_000,
      new Float64Array(19),
      SPEECH_COVARIANCE.map((c) => Math.E * (10_000 * c) + (Math.E - 1) * 20 * c),
    );
    // Scaled by e, each eigenvalue's logarithm grows by one: the identity is added.
    let at = 0;
    for (let i = 0; i < 19; i++) {
      for (let j = 0; j <= i; j++, at++) {
        expect((wide[at] ?? 0) - (usual[at] ?? 0)).toBeCloseTo(i === j ? 1 : 0, 5);
      }
    }
  });

  it("background of speakers: has the weight, mean and variance of the model that it comes from", () => {
    const whole = voiceModel().background;
    const small = speakerBackground();
    expect(small.count).toBe(16);
    const moments = (g: typeof whole) => {
      const weights = [...g.logWeights].map(Math.exp);
      const mean = weights.reduce((sum, w, n) => sum + w * (g.means[38 * n] ?? 0), 0);
      const square = weights.reduce((sum, w, n) => {
        return sum + w * ((g.variances[38 * n] ?? 0) + (g.means[38 * n] ?? 0) ** 2);
      }, 0);
      return [weights.reduce((sum, w) => sum + w, 0), mean, square];
    };
    for (const [n, value] of moments(small).entries()) {
      expect(value / (moments(whole)[n] ?? 1)).toBeCloseTo(1, 4);
    }
  });
});
