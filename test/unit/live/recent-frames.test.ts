import { describe, expect, it } from "vitest";
import { type EncodedFrame, RecentFrames } from "../../../src/live/frames.ts";

function frame(seq: number, bytes = 744): EncodedFrame {
  return {
    type: "JobStatus",
    seq,
    transient: false,
    status: undefined,
    bytes: new Uint8Array(bytes),
  };
}

/** With 256 bytes for itself, each takes a thousand. */
function filled(count: number, room: () => number): RecentFrames {
  const recent = new RecentFrames(10, room);
  for (let seq = 1; seq <= count; seq += 1) recent.push(seq, frame(seq));
  return recent;
}

describe("recent frames", () => {
  it("recent frames: the newest stay, without gaps", () => {
    const recent = filled(57, () => Number.POSITIVE_INFINITY);
    expect(recent.since(50)?.map(({ seq }) => seq)).toEqual([51, 52, 53, 54, 55, 56, 57]);
    expect(recent.since(57)).toEqual([]);
    expect(recent.since(1)).toBeUndefined();
  });

  it("recent frames: they take no more than their room, which may shrink", () => {
    let room = 8_000;
    const recent = filled(100, () => room);
    expect(recent.bytes).toBeLessThanOrEqual(8_000);
    expect(recent.since(98)?.length).toBe(2);
    room = 2_500;
    recent.push(101, frame(101));
    expect(recent.bytes).toBeLessThanOrEqual(2_500);
    expect(recent.since(100)?.length).toBe(1);
    recent.push(102, frame(102, 10_000));
    expect(recent.bytes).toBe(0);
    expect(recent.since(101)).toBeUndefined();
    expect(recent.head).toBe(102);
    recent.push(103, frame(103));
    expect(recent.since(102)?.length).toBe(1);
    recent.forget();
    expect(recent.bytes).toBe(0);
  });
});
