import { describe, expect, it } from "vitest";
import { VoiceLikeness } from "../../../../workers/audio/voice-likeness.ts";
import { clatteringSounds } from "../../../eval/clattering-sound.ts";
import { pinkNoise } from "../../../eval/degraded-audio.ts";
import { seededRandom } from "../../../eval/made-conversation.ts";
import { readConversation } from "../../../support/read-session.ts";

const RATE = 16_000;
const BLOCK = RATE / 10;

function kindOf(pcm: Int16Array): string {
  const likeness = new VoiceLikeness();
  for (let at = 0; at < pcm.length; at += BLOCK) likeness.push(pcm.subarray(at, at + BLOCK));
  return likeness.kind;
}

function made(seconds: number, sample: (time: number, at: number) => number): Int16Array {
  return Int16Array.from({ length: seconds * RATE }, (_, at) => Math.round(sample(at / RATE, at)));
}

/** Noise that swells like syllables, three in a second, each duller or brighter than the one before. */
function whispered(seconds: number, zeros: readonly number[]): Int16Array {
  const random = seededRandom(5);
  let before = 0;
  return made(seconds, (time) => {
    const now = random() - 0.5;
    const value = now - (zeros[Math.floor(3 * time) % zeros.length] ?? 0) * before;
    before = now;
    return 3_000 * Math.sin(Math.PI * 3 * time) ** 2 * value;
  });
}

describe("voice likeness", () => {
  const spoken = readConversation().subarray(0, 6 * RATE);

  it("voice likeness: speech is a voice, quiet, with noise and with typing as loud as it is", () => {
    expect(kindOf(spoken)).toBe("voice");
    expect(kindOf(spoken.map((sample) => sample / 30))).toBe("voice");
    const noise = pinkNoise(spoken.length, seededRandom(1));
    expect(kindOf(spoken.map((sample, at) => sample + 300 * (noise[at] ?? 0)))).toBe("voice");
    const keys = clatteringSounds(6)["clatter: keys"]?.() ?? spoken;
    expect(kindOf(spoken.map((sample, at) => sample / 2 + (keys[at] ?? 0)))).toBe("voice");
  });

  it("voice likeness: a bang beside quiet speech does not outweigh it", () => {
    const random = seededRandom(2);
    const banged = spoken.map((sample, at) => {
      return sample / 8 + (at >= RATE && at < RATE + 160 ? 60_000 * (random() - 0.5) : 0);
    });
    expect(kindOf(banged)).toBe("voice");
  });

  it("voice likeness: keys, buttons, pens and cutlery are none", () => {
    for (const [name, make] of Object.entries(clatteringSounds(4))) {
      expect.soft(kindOf(make()), name).toBe("none");
    }
  });

  it("voice likeness: whispering is told from breath, from a fan and from what rings", () => {
    expect(kindOf(whispered(4, [1, 0.5, 0.8]))).toBe("whisper");
    expect(kindOf(whispered(4, [0.8]))).toBe("none");
    const fan = pinkNoise(4 * RATE, seededRandom(3));
    expect(kindOf(Int16Array.from(fan, (sample) => 600 * sample))).toBe("none");
    const ring = made(4, (time) => {
      return 6_000 * Math.exp(-8 * (time % 0.5)) * Math.sin(2 * Math.PI * 3_200 * time);
    });
    expect(kindOf(ring)).toBe("none");
  });

  it("voice likeness: of next to nothing it is not decided, and silence is no voice", () => {
    expect(kindOf(spoken.subarray(0, 600))).toBe("voice");
    expect(kindOf(new Int16Array(2 * RATE))).toBe("none");
  });
});
