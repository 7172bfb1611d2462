import { describe, expect, it } from "vitest";
import { MeteredRecogniser } from "../../../../workers/speech/metered-recogniser.ts";
import type { Recogniser } from "../../../../workers/speech/recogniser.ts";

const WORK_MS = 2;

function work(): void {
  const until = performance.now() + WORK_MS;
  while (performance.now() < until);
}

class BusyRecogniser implements Recogniser {
  readonly engine = "busy";
  readonly engineVersion = "1";
  useVocabulary = () => {};
  start = work;
  feed = work;
  hypothesis = () => {
    work();
    return { words: [{ text: "so", start: 0, end: 1, confidence: 0 }] };
  };
  finish(): never {
    work();
    throw new Error("broken");
  }
  discard = work;
  mayEnd = work;
  close = () => {};
}

describe("metered recogniser: time in the engine", () => {
  it("adds up what every call takes, and gives what the engine gives", () => {
    const metered = new MeteredRecogniser(new BusyRecogniser());
    const begun = performance.now();
    metered.start(0);
    metered.feed(new Int16Array(1));
    metered.mayEnd();
    expect(metered.hypothesis().words.map(({ text }) => text)).toEqual(["so"]);
    metered.discard();
    expect(metered.workMs).toBeGreaterThanOrEqual(5 * WORK_MS);
    expect(metered.workMs).toBeLessThanOrEqual(performance.now() - begun);
  });

  it("counts calls that fail", () => {
    const metered = new MeteredRecogniser(new BusyRecogniser());
    expect(() => metered.finish()).toThrow("broken");
    expect(metered.workMs).toBeGreaterThanOrEqual(WORK_MS);
  });
});
