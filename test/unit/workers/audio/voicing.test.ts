import { describe, expect, it } from "vitest";
import { Voicing } from "../../../../workers/audio/voicing.ts";
import { seededRandom } from "../../../eval/made-conversation.ts";
import { readConversation } from "../../../support/read-session.ts";

const RATE = 16_000;
const BLOCK = RATE / 10;

function heard(pcm: Int16Array): Voicing {
  const voicing = new Voicing();
  for (let at = 0; at < pcm.length; at += BLOCK) voicing.push(pcm.subarray(at, at + BLOCK));
  return voicing;
}

function made(seconds: number, sample: (at: number) => number): Int16Array {
  return Int16Array.from({ length: seconds * RATE }, (_, at) => Math.round(sample(at)));
}

describe("voicing", () => {
  it("voicing: speech is likely a voice, in each of its turns and with noise as loud as half of it", () => {
    const random = seededRandom(1);
    const spoken = readConversation().subarray(0, 20 * RATE);
    expect(heard(spoken).isLikelyVoice).toBe(true);
    const noisy = spoken.map((sample) => sample + 1_500 * (random() - 0.5));
    expect(heard(noisy).isLikelyVoice).toBe(true);
  });

  it("voicing: clatter is none, and neither is a tune", () => {
    const random = seededRandom(2);
    const clatter = made(5, (at) => (at % 2_000 < 200 ? 20_000 * (random() - 0.5) : 0));
    expect(heard(clatter).isLikelyVoice).toBe(false);
    const tune = made(5, (at) => {
      const hz = 200 + 50 * Math.floor(at / 6_000);
      return 6_000 * Math.sin((2 * Math.PI * hz * at) / RATE);
    });
    expect(heard(tune).isLikelyVoice).toBe(false);
  });

  it("voicing: a crowd, of which a voice stands out now and then, is none", () => {
    const random = seededRandom(4);
    const crowd = (every: number) =>
      made(10, (at) => {
        const tone =
          at % (every * RATE) < 0.1 * RATE ? Math.sin((2 * Math.PI * 150 * at) / RATE) : 0;
        return 6_000 * tone + 3_000 * (random() - 0.5);
      });
    expect(heard(crowd(2.5)).isLikelyVoice).toBe(false);
    expect(heard(crowd(1)).isLikelyVoice).toBe(true);
  });

  it("voicing: nothing is decided of less than half a second", () => {
    const random = seededRandom(3);
    expect(heard(made(0.4, () => 9_000 * (random() - 0.5))).isLikelyVoice).toBe(true);
    expect(heard(made(1, () => 9_000 * (random() - 0.5))).isLikelyVoice).toBe(false);
  });
});
