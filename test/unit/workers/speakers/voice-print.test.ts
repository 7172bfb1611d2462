import { describe, expect, it } from "vitest";
import { isNarrow, throughTelephone } from "../../../../workers/speakers/telephone-band.ts";
import {
  decodePrint,
  encodePrint,
  logLikelihoodRatio,
  makePrint,
  type VoicePrint,
} from "../../../../workers/speakers/voice-print.ts";
import { halfOf } from "../../../support/demo-voices.ts";

const RATE = 16_000;
const SIZE = 3;

function tone(hz: number): Int16Array {
  return Int16Array.from({ length: RATE / 8 }, (_, n) =>
    Math.round(8_000 * Math.sin((2 * Math.PI * hz * n) / RATE)),
  );
}

/** Root mean square of the middle, where a filter has settled. */
function level(pcm: Int16Array): number {
  const middle = pcm.subarray(pcm.length / 4, (3 * pcm.length) / 4);
  return Math.sqrt(middle.reduce((sum, value) => sum + value ** 2, 0) / middle.length);
}

function print(narrow: number[], wide?: number[]): VoicePrint {
  return { narrow: Float32Array.from(narrow), wide: wide && Float32Array.from(wide) };
}

/** As the release before wrote them: magic and one vector. */
function printOfOne(steps: number[]): Uint8Array {
  const bytes = Buffer.alloc(4 + 2 * steps.length);
  bytes.writeUInt32LE(0x32_50_56, 0);
  for (const [n, step] of steps.entries()) bytes.writeInt16LE(step, 4 + 2 * n);
  return bytes;
}

describe("band of telephones", () => {
  it("lets through what a line does, as loud as it was, and nothing else", () => {
    for (const hz of [500, 1_000, 2_000, 3_000]) {
      expect([hz, level(throughTelephone(tone(hz))) / level(tone(hz))]).toEqual([
        hz,
        expect.closeTo(1, 1),
      ]);
    }
    for (const hz of [80, 4_000, 6_000]) {
      expect([hz, level(throughTelephone(tone(hz))) / level(tone(hz)) < 0.02]).toEqual([hz, true]);
    }
  });

  it("is told by what is heard above it", () => {
    const wide = halfOf("Anna", 0).slice(0, 2 * RATE);
    expect(isNarrow(wide)).toBe(false);
    expect(isNarrow(throughTelephone(wide))).toBe(true);
  });
});

describe("prints of voices", () => {
  it("are read as they were written, with one band or two", () => {
    for (const made of [print([0.6, -0.8, 0]), print([0.6, -0.8, 0], [0, 0.28, -0.96])]) {
      const read = decodePrint(encodePrint(made), SIZE);
      for (const band of ["narrow", "wide"] as const) {
        for (const [n, value] of made[band]?.entries() ?? []) {
          expect(read?.[band]?.[n]).toBeCloseTo(value, 3);
        }
      }
      expect(read?.wide === undefined).toBe(made.wide === undefined);
    }
  });

  it("of the release before stand for both bands, and scraps for nobody", () => {
    const read = decodePrint(printOfOne([0, 30_000, 0]), SIZE);
    expect(read).toEqual({ ...print([0, 1, 0], [0, 1, 0]), isOfOne: true });
    const whole = encodePrint(print([1, 0, 0], [0, 1, 0]));
    const other = Uint8Array.from(whole, (byte, n) => (n === 0 ? byte + 1 : byte));
    for (const scrap of [whole.subarray(0, 9), whole.subarray(0, 15), other, new Uint8Array()]) {
      expect(decodePrint(scrap, SIZE)).toBeUndefined();
    }
  });

  it("are compared by all of the voice where both have it, else by what a telephone lets through", () => {
    const both = print([1, 0, 0], [0, 1, 0]);
    const alike = logLikelihoodRatio(both, print([0, 1, 0], [0, 1, 0]));
    expect(alike).toBeGreaterThan(5);
    expect(logLikelihoodRatio(both, print([1, 0, 0], [0, 0, 1]))).toBeLessThan(-5);
    expect(logLikelihoodRatio(both, print([1, 0, 0]))).toBeGreaterThan(5);
    expect(logLikelihoodRatio(print([0, 1, 0]), both)).toBeLessThan(-5);
  });

  it("of two telephones, and of a telephone and a line that is not known, have to be more alike", () => {
    const [telephone, other] = [print([1, 0, 0]), print([0.7, 0.71, 0])];
    const room = print([1, 0, 0], [1, 0, 0]);
    expect(logLikelihoodRatio(other, room)).toBeGreaterThan(2);
    expect(logLikelihoodRatio(other, telephone)).toBeLessThan(0);
    const unknown = decodePrint(printOfOne([30_000, 0, 0]), SIZE) ?? room;
    expect(logLikelihoodRatio(other, unknown)).toBe(logLikelihoodRatio(other, telephone));
    expect(logLikelihoodRatio(room, unknown)).toBeGreaterThan(5);
  });

  it("of a telephone line have no vector of all of the voice", async () => {
    const heard: number[] = [];
    const analysis = {
      ...{ name: "made", vectorSize: 1, onNews: () => undefined },
      embed: (pcm: Int16Array) => {
        heard.push(level(pcm));
        // As an inference thread takes it.
        structuredClone(pcm, { transfer: [pcm.buffer as ArrayBuffer] });
        const numbers = Float32Array.of(1);
        return { numbers, settled: Promise.resolve(), drop: () => undefined };
      },
      segment: () => {
        throw new Error("not asked for");
      },
    };
    const made = async (pcm: Int16Array): Promise<VoicePrint> => {
      const steps = makePrint(pcm, analysis);
      for (;;) {
        const { done, value } = steps.next();
        if (done === true) return value.print;
        await value;
      }
    };
    const spoken = halfOf("Ben", 0).slice(0, 12 * RATE);
    const one = Float32Array.of(1);
    expect(await made(spoken)).toEqual({ narrow: one, wide: one });
    const subsegments = heard.length / 2;
    expect(subsegments).toBeGreaterThanOrEqual(2);
    expect((await made(throughTelephone(spoken))).wide).toBeUndefined();
    expect(heard.length).toBe(3 * subsegments);
  });
});
