import { describe, expect, it } from "vitest";
import { Endpointer } from "../../../../workers/speech/endpointer.ts";

const LOUD = 1e6;

/** Frame numbers at which something happened; "v" is a voiced frame. */
function run(endpointer: Endpointer, voiced: (frame: number) => boolean, frames: number): string[] {
  const seen: string[] = [];
  for (let frame = 0; frame < frames; frame++) {
    const endpoint = endpointer.push(voiced(frame), LOUD);
    if (endpoint !== "none") seen.push(`${endpoint} ${frame}`);
  }
  return seen;
}

describe("endpointer", () => {
  it("endpointer: speech begins after 100 ms of voice and ends after a pause of about 240 ms", () => {
    const seen = run(new Endpointer(), (frame) => frame >= 50 && frame < 200, 400);
    expect(seen).toEqual(["begin 59", "end 222"]);
  });

  it("endpointer: clicks and short pauses change nothing", () => {
    const clicks = run(new Endpointer(), (frame) => frame % 20 < 9, 1_000);
    expect(clicks).toEqual([]);
    const pauses = run(new Endpointer(), (frame) => frame % 60 < 38, 600);
    expect(pauses).toEqual(["begin 9"]);
  });

  it("endpointer: the longer the speech, the shorter the pause that ends it", () => {
    const pauseOf150 = (frame: number): boolean => frame % 500 < 485;
    expect(run(new Endpointer(), pauseOf150, 1_000)).toEqual(["begin 9"]);
    const [begin, end] = run(new Endpointer(), pauseOf150, 2_100);
    expect(begin).toBe("begin 9");
    expect(Number(end?.split(" ")[1])).toBeLessThan(2_100);
  });

  it("endpointer: speech without any pause is cut at a dip, at 25 s at the latest", () => {
    expect(run(new Endpointer(), () => true, 2_600)[1]).toBe("end 2499");
    const endpointer = new Endpointer();
    let end = 0;
    for (let frame = 0; end === 0; frame++) {
      const level = frame % 77 === 0 ? 1 : LOUD;
      if (endpointer.push(true, level) === "end") end = frame;
    }
    expect(end % 77).toBe(0);
    expect(end).toBeGreaterThan(1_980);
    expect(end).toBeLessThan(2_499);
  });

  it("endpointer: knows long silence", () => {
    const endpointer = new Endpointer();
    run(endpointer, () => false, 23);
    expect(endpointer.silent).toBe(false);
    run(endpointer, () => false, 1);
    expect(endpointer.silent).toBe(true);
  });
});
