import { describe, expect, it } from "vitest";
import { cutOf, Endpointer } from "../../../../workers/speech/endpointer.ts";

/** Frame numbers at which something happened. */
function run(endpointer: Endpointer, voiced: (frame: number) => boolean, frames: number): string[] {
  const seen: string[] = [];
  for (let frame = 0; frame < frames; frame++) {
    const endpoint = endpointer.push(voiced(frame) ? 0.9 : 0.1);
    if (endpoint !== "none") seen.push(`${endpoint} ${frame}`);
  }
  return seen;
}

describe("endpointer", () => {
  it("speech begins with its second frame, may end after a quarter of a second, ends after 400 ms", () => {
    const seen = run(new Endpointer(), (frame) => frame >= 50 && frame < 80, 120);
    expect(seen).toEqual(["begin 51", "pause 87", "end 91"]);
  });

  it("single frames begin nothing, and a hesitation of 300 ms ends nothing", () => {
    expect(run(new Endpointer(), (frame) => frame % 5 === 0, 300)).toEqual([]);
    const hesitant = run(new Endpointer(), (frame) => frame % 40 < 30, 300);
    expect(hesitant.filter((each) => each.startsWith("end"))).toEqual([]);
  });

  it("what is hardly speech goes on with it and does not begin it", () => {
    const endpointer = new Endpointer();
    for (let frame = 0; frame < 20; frame++) expect(endpointer.push(0.4)).toBe("none");
    endpointer.push(0.6);
    expect(endpointer.push(0.6)).toBe("begin");
    for (let frame = 0; frame < 50; frame++) expect(endpointer.push(0.4)).toBe("none");
  });

  it("the longer the speech, the shorter the pause that ends it", () => {
    const pauseOf200 = (frame: number): boolean => frame % 156 < 150;
    expect(run(new Endpointer(), pauseOf200, 437)).toEqual(["begin 1"]);
    const [begin, end] = run(new Endpointer(), pauseOf200, 650);
    expect(begin).toBe("begin 1");
    expect(end).toMatch(/^end/);
  });

  it("speech without any pause is cut after 20 s", () => {
    expect(run(new Endpointer(), () => true, 700)[1]).toBe("cut 624");
  });

  it("knows long silence", () => {
    const endpointer = new Endpointer();
    run(endpointer, () => false, 12);
    expect(endpointer.silent).toBe(false);
    run(endpointer, () => false, 1);
    expect(endpointer.silent).toBe(true);
  });
});

describe("cutOf: where an utterance that is too long is cut", () => {
  const frames = (change: Record<number, { probability?: number; level?: number }>) =>
    Array.from({ length: 100 }, (_, at) => ({ probability: 0.9, level: 50, ...change[at] }));

  it("behind the least likely speech of the last two fifths", () => {
    expect(cutOf(frames({ 30: { probability: 0.1 }, 70: { probability: 0.5 } }))).toBe(71);
  });

  it("of equally likely places behind the quietest", () => {
    expect(cutOf(frames({ 65: { level: 9 }, 80: { level: 8 }, 90: { level: 8 } }))).toBe(81);
  });
});
