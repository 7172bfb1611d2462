import { describe, expect, it } from "vitest";
import { toSegment } from "../../../src/recognition/recognised.ts";
import { Segment } from "../../../src/wire/gen/voice/v1/worker.ts";

/** As it comes from a worker, through the wire format. */
function received(cluster: number, speakerConfidence?: number): Segment {
  const segment = {
    start: 0,
    end: 9,
    words: [],
    confidence: 0.5,
    cluster,
    speakerConfidence,
    overlaps: [],
  };
  return Segment.decode(Segment.encode(segment).finish());
}

describe("recognised", () => {
  it("recognised: a speaker's confidence comes with three digits; old workers tell none", () => {
    expect(toSegment(received(2, 0.87654)).speakerConfidence).toBe(0.877);
    expect(toSegment(received(2, 0)).speakerConfidence).toBe(0);
    expect("speakerConfidence" in toSegment(received(2))).toBe(false);
    expect("speakerConfidence" in toSegment(received(-1, 0.9))).toBe(false);
  });
});
