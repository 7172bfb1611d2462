import { describe, expect, it } from "vitest";
import { AppError } from "../../../src/base/errors.ts";
import { mayBeTheAudio, Suspicion } from "../../../src/recognition/suspicion.ts";
import type { Suspect } from "../../../src/session/status.ts";

const SECOND = 16_000;

function create(...known: Suspect[]): Suspicion {
  const suspicion = new Suspicion();
  suspicion.load(known);
  suspicion.begin(0);
  return suspicion;
}

/** Chunks of two seconds each. */
function feed(suspicion: Suspicion, from: number, to: number): void {
  for (let sequence = from; sequence < to; sequence += 1) {
    suspicion.fed({ sequence, end: (sequence + 1) * 2 * SECOND, kind: "chunk" });
  }
}

function blamed(suspects: Suspect[] | undefined): [number, number][] | undefined {
  return suspects?.map(({ sequence, breaks }) => [sequence, breaks]);
}

describe("suspicion", () => {
  it("suspicion: all that was under way is suspect once, then one chunk after the other", () => {
    const suspicion = create();
    feed(suspicion, 0, 5);
    expect(suspicion.mayFeed).toBe(true);
    expect(blamed(suspicion.broke(3 * SECOND))).toEqual([
      [1, 1],
      [2, 1],
      [3, 1],
      [4, 1],
    ]);
    suspicion.begin(1);
    expect(suspicion.isCareful).toBe(true);
    feed(suspicion, 1, 2);
    expect(suspicion.mayFeed).toBe(false);
    suspicion.read(4 * SECOND);
    expect(suspicion.mayFeed).toBe(true);
    feed(suspicion, 2, 3);
    expect(blamed(suspicion.broke(4 * SECOND))).toEqual([
      [2, 2],
      [3, 1],
      [4, 1],
    ]);
  });

  it("suspicion: after three breaks it is unreadable, and stays so for a new activation", () => {
    const suspicion = create();
    let suspects: Suspect[] | undefined;
    for (let times = 0; times < 3; times += 1) {
      expect(suspicion.isUnreadable(0)).toBe(false);
      suspicion.begin(0);
      feed(suspicion, 0, 1);
      suspects = suspicion.broke(0);
    }
    expect(suspicion.isUnreadable(0)).toBe(true);
    expect(suspicion.isCareful).toBe(false);
    const next = create(...(suspects ?? []));
    expect(next.isUnreadable(0)).toBe(true);
    next.fed({ sequence: 0, end: 2 * SECOND, kind: "gap" });
    next.read(2 * SECOND);
    expect(next.isUnreadable(0)).toBe(true);
  });

  it("suspicion: what was read before is not blamed for workers that end, unless it never ends", () => {
    const suspicion = create({ sequence: 0, breaks: 2, position: 0 });
    feed(suspicion, 0, 2);
    suspicion.read(2 * SECOND);
    expect(suspicion.isCareful).toBe(false);
    // Killed again and again while it reads chunk 0 anew, from the checkpoint before it.
    for (let times = 0; times < 5; times += 1) {
      suspicion.begin(0);
      feed(suspicion, 0, 1);
      expect(suspicion.broke(SECOND)).toBeUndefined();
    }
    for (let breaks = 1; breaks <= 3; breaks += 1) {
      suspicion.begin(0);
      feed(suspicion, 0, 1);
      expect(blamed(suspicion.broke(0))).toEqual([[0, breaks]]);
    }
    expect(suspicion.isUnreadable(0)).toBe(true);
  });

  it("suspicion: a long chunk in which reading gets further each time is not given up", () => {
    const suspicion = create();
    for (let minute = 1; minute < 10; minute += 1) {
      suspicion.begin(0);
      suspicion.fed({ sequence: 0, end: 900 * SECOND, kind: "chunk" });
      expect(blamed(suspicion.broke(minute * 60 * SECOND))).toEqual([[0, 1]]);
    }
  });

  it("suspicion: a chunk that is still streamed is trusted when all of it was read", () => {
    const suspicion = create();
    for (let times = 1; times <= 3; times += 1) {
      suspicion.begin(0);
      suspicion.fed({ sequence: 0, end: SECOND, kind: "piece" });
      suspicion.read(SECOND);
      suspicion.fed({ sequence: 0, end: 2 * SECOND, kind: "piece" });
      expect(blamed(suspicion.broke(SECOND))).toEqual([[0, times]]);
    }
    expect(suspicion.isUnreadable(0)).toBe(true);
  });

  it("suspicion: nobody is blamed when nothing was in work", () => {
    const suspicion = create();
    expect(suspicion.broke(0)).toBeUndefined();
    feed(suspicion, 0, 2);
    expect(suspicion.broke(4 * SECOND)).toBeUndefined();
  });

  it("suspicion: a gap is never to blame, the audio before it is", () => {
    const suspicion = create();
    feed(suspicion, 0, 1);
    suspicion.fed({ sequence: 1, end: 4 * SECOND, kind: "gap" });
    expect(blamed(suspicion.broke(2 * SECOND))).toEqual([[0, 1]]);
  });

  it("suspicion: who resumes beyond a suspect is not held up by it", () => {
    const suspicion = create({ sequence: 3, breaks: 1, position: 0 });
    suspicion.begin(4);
    expect(suspicion.isCareful).toBe(false);
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
