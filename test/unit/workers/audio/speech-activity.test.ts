import { describe, expect, it } from "vitest";
import { ACTIVITY_FRAME, SpeechActivity } from "../../../../workers/audio/speech-activity.ts";
import { readConversation } from "../../../support/read-session.ts";

/** The first turn of the shipped conversation, with half a second of silence before it. */
const speech = readConversation().subarray(0, 4 * 16_000);

function probabilities(pcm: Int16Array, activity = new SpeechActivity()): number[] {
  return Array.from({ length: Math.floor(pcm.length / ACTIVITY_FRAME) }, (_, at) => {
    const frame = pcm.subarray(at * ACTIVITY_FRAME, (at + 1) * ACTIVITY_FRAME);
    return activity.take(frame).probability;
  });
}

describe("speech activity", () => {
  it("tells speech from silence, hum and noise", () => {
    const found = probabilities(speech);
    expect(Math.max(...found.slice(0, 12))).toBeLessThan(0.1);
    expect(found.slice(30).filter((each) => each > 0.9).length).toBeGreaterThan(50);
    const hum = Int16Array.from({ length: 32_000 }, (_, at) => 3_000 * Math.sin(at / 50));
    expect(Math.max(...probabilities(hum))).toBeLessThan(0.5);
    const hiss = Int16Array.from({ length: 32_000 }, (_, at) => ((at * 7_919) % 1_009) - 504);
    expect(Math.max(...probabilities(hiss))).toBeLessThan(0.5);
  });

  it("a constant offset changes nothing, and is taken away", () => {
    const shifted = speech.map((sample) => sample + 9_000);
    const [plain, found] = [probabilities(speech), probabilities(shifted)];
    for (const [at, probability] of found.entries()) {
      expect(probability).toBeCloseTo(plain[at] ?? -1, 2);
    }
    const { pcm } = new SpeechActivity().take(new Int16Array(ACTIVITY_FRAME).fill(9_000));
    expect(Math.max(...pcm)).toBe(0);
  });

  it("goes on from a state as if it had heard everything itself", () => {
    const at = 40 * ACTIVITY_FRAME;
    const first = new SpeechActivity();
    probabilities(speech.subarray(0, at), first);
    const second = new SpeechActivity();
    second.restore(first.state());
    expect(probabilities(speech.subarray(at), second)).toEqual(probabilities(speech).slice(40));
  });

  it("refuses a state that is not its own", () => {
    const activity = new SpeechActivity();
    expect(() => activity.restore(new Uint8Array(740))).toThrow(RangeError);
    const broken = new Uint8Array(activity.state().length).fill(255);
    expect(() => activity.restore(broken)).toThrow(RangeError);
  });
});
