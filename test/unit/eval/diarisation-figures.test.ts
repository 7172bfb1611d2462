import { describe, expect, it } from "vitest";
import { figuresOf, pooled } from "../../eval/diarisation-figures.ts";
import type { DiarisationRun } from "../../eval/diarisation-run.ts";
import type { SpokenTurn } from "../../eval/diarisation-score.ts";
import { TrackerMeter } from "../../eval/metered-tracker.ts";

const turn = (speaker: string, start: number, end: number) => ({ speaker, start, end });
const REFERENCE = [turn("A", 0, 10), turn("B", 11, 20), turn("A", 20.5, 25)];

/** A run whose labels came at the ends of their segments and never changed, by default. */
function run(first: SpokenTurn[], more: Partial<DiarisationRun> = {}): DiarisationRun {
  const history = first.map((shown) => ({ ...shown, at: shown.end }));
  const changes = { changedLive: 0, changedFinal: 0, changed: 0, namedLater: 0 };
  const counts = { ...changes, shownSeconds: 30, changedSeconds: 0 };
  const stages = { first, live: first, final: first, history, segments: first.length };
  return { ...stages, ...counts, meter: new TrackerMeter(), ...more };
}

function figures(made: DiarisationRun) {
  return figuresOf({ set: "set", name: "name", seconds: 30 }, REFERENCE, made);
}

describe("figures of speakers", () => {
  it("have the error of one speaker and of right labels beside that of the run", () => {
    const made = figures(run([turn("S1", 0, 10), turn("S2", 11, 16), turn("S1", 16, 25)]));
    expect(made.first.confusion).toBeCloseTo(3.75);
    expect(made.oneSpeaker.confusion).toBeCloseTo(8.5);
    expect(made.floor.errorRate).toBe(0);
    expect([made.speakers, made.found, made.countedRight, made.farOff]).toEqual([2, 2, 1, 0]);
  });

  it("have in the floor what no label could mend", () => {
    const made = figures(run([turn("S1", 0, 22), turn("S1", 26, 28)]));
    expect(made.floor.missed).toBeCloseTo(2.75);
    expect(made.floor.falseAlarm).toBeCloseTo(2 + 0.5);
    expect(made.floor.confusion).toBe(0);
  });

  it("take what is shown as unknown for missed, and for nobody", () => {
    const made = figures(run([turn("S1", 0, 10), turn("UU", 11, 20), turn("S1", 20.5, 25)]));
    expect(made.first.missed).toBeCloseTo(8.5);
    expect(made.first.confusion).toBe(0);
    expect([made.found, made.countedRight]).toEqual([1, 0]);
  });

  it("count from a voice's start to its own label, not to another's", () => {
    const shown = [turn("S1", 0, 10), turn("S1", 11, 13), turn("S2", 13, 20), turn("S1", 21, 25)];
    const made = figures(run(shown));
    expect(made.delays).toEqual([10, 9]);
    expect(made.neverNamed).toBe(0);
    expect(figures(run([turn("S1", 0, 25)])).neverNamed).toBe(1);
  });

  it("are pooled by time and count", () => {
    const right = figures(run(REFERENCE));
    const wrong = figures(run([turn("S1", 0, 25)], { changed: 1, changedLive: 1 }));
    const both = pooled("both", [right, wrong]);
    expect(both.first.scored).toBeCloseTo(2 * right.first.scored);
    expect(both.first.errorRate).toBeCloseTo(wrong.first.errorRate / 2);
    expect([both.recordings, both.countedRight, both.segments, both.changed]).toEqual([2, 1, 4, 1]);
    expect(both.delays).toHaveLength(3);
  });
});
