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
  const stages = { first, live: first, final: first, history, interims: [] };
  const segments = first.length;
  return { ...stages, segments, ...counts, meter: new TrackerMeter(), ...more };
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

  it("count from when a voice was heard for 1.5 s, in how many turns ever, and what of that no final was there", () => {
    const late = { speaker: "S1", start: 11, end: 13, at: 14 };
    const [first, , own] = [turn("S1", 0, 10), late, turn("S2", 13, 20)];
    const history = [{ ...first, at: 10.5 }, late, { ...own, at: 21 }];
    const made = figures(run([first, turn("S1", 11, 13), own], { history }));
    expect(made.newVoices).toMatchObject({ waits: [9, 8.5], finals: [9, 1.5], falseLabels: 0 });
    expect(made.newVoices.told).toEqual(made.newVoices.waits);
    const short = [turn("A", 0, 10), turn("B", 11, 12), turn("A", 12, 15), turn("B", 15, 17)];
    const soon = short.map((shown) => ({ ...shown, speaker: shown.speaker === "A" ? "S1" : "S2" }));
    const shown = soon.map((each) => ({ ...each, at: each.end + 0.5 }));
    const parts = figuresOf(
      { set: "", name: "", seconds: 20 },
      short,
      run(soon, { history: shown }),
    );
    // The label was there before so much was heard.
    expect(parts.newVoices).toMatchObject({ waits: [9, 0], finals: [9, 0], falseLabels: 0 });
  });

  it("count to an interim result with a voice's own label, and whose label interim results have", () => {
    const interims = [
      { at: 1, speaker: "UU" },
      { at: 2, speaker: "S1" },
      { at: 10.6, speaker: "S1" },
      { at: 13, speaker: "S1" },
      { at: 14, speaker: "S2" },
      { at: 29, speaker: "S1" },
    ];
    const made = figures(run([turn("S1", 0, 10), turn("S2", 11, 20)], { interims }));
    expect(made.newVoices.told).toEqual([0.5, 1.5]);
    expect(made.newVoices.waits).toEqual([8.5, 7.5]);
    expect(made.newVoices.interims).toEqual({ right: 3, unknown: 1, wrong: 1 });
    expect(pooled("both", [made, made]).newVoices.interims.right).toBe(6);
  });

  it("count labels that are nobody's, also those that went again, and leave out who said hardly anything", () => {
    const first = [turn("S1", 0, 10), turn("S2", 11, 20), turn("S3", 20.5, 25)];
    const history = first.map((shown) => ({ ...shown, at: shown.end }));
    const live = [...first.slice(0, 2), turn("S1", 20.5, 25)];
    const made = figures(
      run(first, {
        live,
        history: [...history, turn("UU", 26, 27)].map((shown) => ({ at: 27, ...shown })),
      }),
    );
    expect(made.newVoices.falseLabels).toBe(1);
    const both = pooled("both", [made, made]);
    expect([both.newVoices.waits.length, both.newVoices.falseLabels]).toEqual([4, 2]);
    const hardly = figuresOf(
      { set: "", name: "", seconds: 9 },
      [turn("A", 0, 1.4)],
      run([turn("S1", 0, 1.4)]),
    );
    expect(hardly.newVoices.waits).toEqual([]);
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
