import { describe, expect, it } from "vitest";
import { encodeFrame, FrameBatch } from "../../../src/live/frames.ts";
import type { InterimResultsFrame } from "../../../src/wire/live-frames.ts";
import { MemoryLiveSource } from "../../support/memory/live-source.ts";

function interim(segment_id: string, revision: number): InterimResultsFrame {
  return {
    type: "Results",
    session_id: "s",
    segment_id,
    revision,
    is_final: false,
    stable_words: 0,
    start: 0,
    duration: 1,
    transcript: "",
    confidence: 1,
    speaker: "UU",
    words: [],
  };
}

function taken(batch: FrameBatch): string[] {
  return batch.take().map(({ bytes }) => {
    const frame = JSON.parse(Buffer.from(bytes).toString()) as Record<string, unknown>;
    return `${frame.segment_id}/${frame.revision}/${frame.seq ?? "-"}`;
  });
}

describe("frame batch: coalescing", () => {
  it("keeps the newest interim per segment and none behind its final", () => {
    const batch = new FrameBatch();
    const final = new MemoryLiveSource().append("s");
    batch.addTransient(interim("segment-1", 1));
    batch.addTransient(interim("b", 2));
    batch.addTransient(interim("b", 4));
    batch.addTransient(interim("b", 3));
    batch.addDurable(encodeFrame(final), "segment-1");
    batch.addTransient(interim("c", 1));
    expect(taken(batch)).toEqual(["b/4/-", "segment-1/1/1", "c/1/-"]);
    expect(batch.empty).toBe(true);
  });

  it("is bounded in what may be dropped and unbounded in what may not", () => {
    const batch = new FrameBatch();
    const source = new MemoryLiveSource();
    for (let index = 0; index < 1000; index += 1) batch.addTransient(interim(`i${index}`, 1));
    for (let index = 0; index < 1000; index += 1) {
      batch.addDurable(encodeFrame(source.append("s")), undefined);
    }
    expect(batch.take().length).toBe(1256);
  });
});
