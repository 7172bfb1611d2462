import { describe, expect, it } from "vitest";
import { AppError } from "../../../src/base/errors.ts";
import { mayBeTheAudio, PoisonDetector } from "../../../src/recognition/poison-detector.ts";
import type { Suspect } from "../../../src/session/status.ts";

const SECOND = 16_000;

function create(...known: Suspect[]): PoisonDetector {
  const detector = new PoisonDetector();
  detector.load(known);
  detector.begin(0);
  return detector;
}

/** Chunks of two seconds each. */
function feed(detector: PoisonDetector, from: number, to: number): void {
  for (let sequence = from; sequence < to; sequence += 1) {
    detector.fed({ sequence, end: (sequence + 1) * 2 * SECOND, kind: "chunk" });
  }
}

function blamed(suspects: Suspect[] | undefined): [number, number][] | undefined {
  return suspects?.map(({ sequence, breaks }) => [sequence, breaks]);
}

describe("suspicion", () => {
  it("suspicion: all that was under way is suspect once, then one chunk after the other", () => {
    const detector = create();
    feed(detector, 0, 5);
    expect(detector.mayFeed).toBe(true);
    expect(blamed(detector.broke(3 * SECOND))).toEqual([
      [1, 1],
      [2, 1],
      [3, 1],
      [4, 1],
    ]);
    detector.begin(1);
    expect(detector.isCareful).toBe(true);
    feed(detector, 1, 2);
    expect(detector.mayFeed).toBe(false);
    detector.read(4 * SECOND);
    expect(detector.mayFeed).toBe(true);
    feed(detector, 2, 3);
    expect(blamed(detector.broke(4 * SECOND))).toEqual([
      [2, 2],
      [3, 1],
      [4, 1],
    ]);
  });

  it("suspicion: after three breaks it is unreadable, and stays so for a new activation", () => {
    const detector = create();
    let suspects: Suspect[] | undefined;
    for (let times = 0; times < 3; times += 1) {
      expect(detector.isUnreadable(0)).toBe(false);
      detector.begin(0);
      feed(detector, 0, 1);
      suspects = detector.broke(0);
    }
    expect(detector.isUnreadable(0)).toBe(true);
    expect(detector.isCareful).toBe(false);
    const next = create(...(suspects ?? []));
    expect(next.isUnreadable(0)).toBe(true);
    next.fed({ sequence: 0, end: 2 * SECOND, kind: "gap" });
    next.read(2 * SECOND);
    expect(next.isUnreadable(0)).toBe(true);
  });

  it("suspicion: what was read before is not blamed for workers that end, unless it never ends", () => {
    const detector = create({ sequence: 0, breaks: 2, position: 0 });
    feed(detector, 0, 2);
    detector.read(2 * SECOND);
    expect(detector.isCareful).toBe(false);
    // Killed again and again while it reads chunk 0 anew, from the checkpoint before it.
    for (let times = 0; times < 5; times += 1) {
      detector.begin(0);
      feed(detector, 0, 1);
      expect(detector.broke(SECOND)).toBeUndefined();
    }
    for (let breaks = 1; breaks <= 3; breaks += 1) {
      detector.begin(0);
      feed(detector, 0, 1);
      expect(blamed(detector.broke(0))).toEqual([[0, breaks]]);
    }
    expect(detector.isUnreadable(0)).toBe(true);
  });

  it("suspicion: a long chunk in which reading gets further each time is not given up", () => {
    const detector = create();
    for (let minute = 1; minute < 10; minute += 1) {
      detector.begin(0);
      detector.fed({ sequence: 0, end: 900 * SECOND, kind: "chunk" });
      expect(blamed(detector.broke(minute * 60 * SECOND))).toEqual([[0, 1]]);
    }
  });

  it("suspicion: a chunk that is still streamed is trusted when all of it was read", () => {
    const detector = create();
    for (let times = 1; times <= 3; times += 1) {
      detector.begin(0);
      detector.fed({ sequence: 0, end: SECOND, kind: "fragment" });
      detector.read(SECOND);
      detector.fed({ sequence: 0, end: 2 * SECOND, kind: "fragment" });
      expect(blamed(detector.broke(SECOND))).toEqual([[0, times]]);
    }
    expect(detector.isUnreadable(0)).toBe(true);
  });

  it("suspicion: nobody is blamed when nothing was in work", () => {
    const detector = create();
    expect(detector.broke(0)).toBeUndefined();
    feed(detector, 0, 2);
    expect(detector.broke(4 * SECOND)).toBeUndefined();
  });

  it("suspicion: a gap is never to blame, the audio before it is", () => {
    const detector = create();
    feed(detector, 0, 1);
    detector.fed({ sequence: 1, end: 4 * SECOND, kind: "gap" });
    expect(blamed(detector.broke(2 * SECOND))).toEqual([[0, 1]]);
  });

  it("suspicion: who resumes beyond a suspect is not held up by it", () => {
    const detector = create({ sequence: 3, breaks: 1, position: 0 });
    detector.begin(4);
    expect(detector.isCareful).toBe(false);
  });

  it("suspicion: a worker that leaves, is full or away is nobody's fault", () => {
    for (const code of ["unavailable", "overloaded", "unauthorized", "timeout"] as const) {
      expect(mayBeTheAudio(new AppError(code, ""))).toBe(false);
    }
    for (const code of ["worker_broken", "internal", "not_audio"] as const) {
      expect(mayBeTheAudio(new AppError(code, ""))).toBe(true);
    }
    expect(mayBeTheAudio(undefined)).toBe(false);
  });
});
