import { describe, expect, it } from "vitest";
import {
  CompareVoiceRequest,
  CompareVoiceResponse,
} from "../../../../src/wire/gen/voice/v1/voices.ts";
import { compareVoiceTask } from "../../../../workers/voices/compare-task.ts";
import { pitchOf } from "../../../../workers/voices/pitch.ts";
import {
  decodePrint,
  encodePrint,
  makePrint,
  PRINT_METHOD,
  PrintComparer,
  type VoicePrint,
} from "../../../../workers/voices/voice-print.ts";
import { halfOf, VOICES } from "../../../support/demo-voices.ts";

function whole<T>(steps: Generator<unknown, T>): T {
  for (;;) {
    const { done, value } = steps.next();
    if (done === true) return value;
  }
}

function printOf(pcm: Int16Array): VoicePrint {
  return whole(makePrint(pcm)).print;
}

/** The answer of the task, and how many steps it took. */
function compared(request: Partial<CompareVoiceRequest>) {
  const whole = { pcm: Buffer.alloc(0), prints: [], ...request };
  const steps = [...compareVoiceTask(CompareVoiceRequest.encode(whole).finish())];
  const [answer] = steps.filter((step) => step !== undefined);
  if (answer === undefined) throw new Error("no answer");
  return { ...CompareVoiceResponse.decode(answer), steps: steps.length };
}

const bytesOf = (pcm: Int16Array) => Buffer.from(pcm.buffer, pcm.byteOffset, pcm.byteLength);

describe("voice prints", () => {
  it("voice prints: one voice is likelier in other words than another in the same recording", () => {
    const comparer = new PrintComparer();
    const early = VOICES.map((voice) => printOf(halfOf(voice, 0)));
    const late = VOICES.map((voice) => printOf(halfOf(voice, 1)));
    for (const [i, one] of early.entries()) {
      for (const [j, other] of late.entries()) {
        const ratio = comparer.logLikelihoodRatio(one, other);
        expect(ratio > 3, `${VOICES[i]} ${VOICES[j]} ${ratio}`).toBe(i === j);
        expect(comparer.logLikelihoodRatio(other, one)).toBeCloseTo(ratio, 6);
      }
    }
  });

  it("voice prints: neither level nor an even colour of the sound makes another voice", () => {
    const comparer = new PrintComparer();
    const pcm = halfOf("Ben", 0);
    const quiet = pcm.map((sample) => sample / 4);
    const dull = pcm.map((sample, n) => (sample + (pcm[n - 1] ?? 0)) / 2);
    for (const changed of [quiet, dull]) {
      expect(comparer.logLikelihoodRatio(printOf(pcm), printOf(changed))).toBeGreaterThan(3);
    }
  });

  it("voice prints: come back from bytes, and those of another version do not", () => {
    const print = printOf(halfOf("Anna", 0));
    const bytes = encodePrint(print);
    const back = decodePrint(bytes);
    expect(back?.pitch).toBeCloseTo(print.pitch, 5);
    const most = Math.max(
      ...print.offsets.map((value, n) => Math.abs(value - (back?.offsets[n] ?? 0))),
    );
    expect(most).toBeLessThan(1e-4);
    expect(decodePrint(bytes.subarray(1))).toBeUndefined();
    expect(decodePrint(Uint8Array.from(bytes, (byte, n) => (n === 0 ? byte + 1 : byte)))).toBe(
      undefined,
    );
  });

  it("voice prints: of nothing, of silence and of noise say nothing for anybody", () => {
    const anna = printOf(halfOf("Anna", 0));
    const noise = Int16Array.from({ length: 160_000 }, (_, n) => ((n * 7_919) % 2_001) - 1_000);
    for (const pcm of [new Int16Array(0), new Int16Array(100), new Int16Array(160_000), noise]) {
      const { print } = whole(makePrint(pcm));
      const ratio = new PrintComparer().logLikelihoodRatio(anna, print);
      expect(ratio).not.toBeNaN();
      expect(ratio).toBeLessThan(1);
    }
    expect(whole(makePrint(new Int16Array(0))).speechMs).toBe(0);
  });

  it("voice prints: the task answers once, in many steps, and knows no print of other methods", () => {
    const pcm = bytesOf(halfOf("Alan", 0));
    const own = encodePrint(printOf(halfOf("Alan", 1)));
    const prints = [Buffer.from(own), Buffer.from("of another method")];
    const answer = compared({ pcm, prints });
    expect(answer.method).toBe(PRINT_METHOD);
    expect(answer.speechMs).toBeGreaterThan(10_000);
    expect(decodePrint(answer.print)).toBeDefined();
    expect(answer.logRatios[0]).toBeGreaterThan(3);
    expect(answer.logRatios[1]).toBe(Number.NEGATIVE_INFINITY);
    expect(answer.steps).toBeGreaterThan(50);
  });

  it("voice prints: the task refuses what is too much for one call, and takes half a sample", () => {
    const minutes = Buffer.alloc(3 * 60 * 32_000 + 2);
    expect(() => compared({ pcm: minutes })).toThrow(/too much speech/);
    const many = Array.from({ length: 201 }, () => Buffer.alloc(1));
    expect(() => compared({ prints: many })).toThrow(/too many prints/);
    expect(compared({ pcm: Buffer.alloc(1) }).speechMs).toBe(0);
    expect(() => [...compareVoiceTask(Buffer.from([0xff]))]).toThrow(/no CompareVoiceRequest/);
  });

  it("voice prints: the pitch of a tone is its own, not its half, and noise has none", () => {
    for (const hz of [80, 125, 200, 320]) {
      const tone = Int16Array.from({ length: 2_000 }, (_, n) => {
        const phase = (2 * Math.PI * hz * n) / 16_000;
        return 6_000 * (Math.sin(phase) + 0.5 * Math.sin(2 * phase) + 0.3 * Math.sin(3 * phase));
      });
      expect(Math.abs(Math.log2((pitchOf(tone, 0) ?? 1) / hz))).toBeLessThan(0.02);
    }
    const noise = Int16Array.from({ length: 2_000 }, (_, n) => ((n * n * 7_919) % 4_001) - 2_000);
    expect(pitchOf(noise, 0)).toBeUndefined();
    expect(pitchOf(new Int16Array(100), 0)).toBeUndefined();
  });
});
