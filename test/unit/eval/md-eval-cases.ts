import type { SpokenTurn } from "../../eval/diarisation-score.ts";

const turn = (speaker: string, start: number, end: number) => ({ speaker, start, end });

interface MdEvalCase {
  what: string;
  reference: SpokenTurn[];
  hypothesis: SpokenTurn[];
  /** As `md-eval.pl -c 0.25` of sctk 2.4.10 printed it for [0, 30): seconds, and % of `scored`. */
  printed: { scored: number; missed: number; falseAlarm: number; confusion: number; rate: number };
}

export const MD_EVAL_CASES: readonly MdEvalCase[] = [
  {
    what: "overlap and a third speaker who is taken for another half of the time",
    reference: [turn("A", 0, 10), turn("B", 8, 16), turn("C", 17, 24)],
    hypothesis: [turn("x", 0.1, 8.9), turn("y", 9, 16.2), turn("z", 17.1, 20), turn("x", 20, 24.3)],
    printed: { scored: 22.5, missed: 1.6, falseAlarm: 0.05, confusion: 3.75, rate: 24 },
  },
  {
    what: "a mapping that only the time within the collar decides",
    reference: [turn("A", 0, 0.5), turn("A", 1, 1.5), turn("A", 2, 2.5), turn("B", 6, 7.2)],
    hypothesis: [turn("x", 0, 2.5), turn("x", 6, 7.2)],
    printed: { scored: 0.7, missed: 0, falseAlarm: 0, confusion: 0.7, rate: 100 },
  },
  {
    what: "pauses and changes that are shorter than two collars",
    reference: [turn("A", 0, 4), turn("A", 4.2, 8), turn("B", 8.1, 9), turn("B", 9, 14)],
    hypothesis: [turn("x", 0, 8), turn("y", 8, 12), turn("x", 12.5, 15)],
    printed: { scored: 11.7, missed: 0.5, falseAlarm: 0.75, confusion: 1.25, rate: 21.37 },
  },
  {
    what: "three speakers of whom two are found",
    reference: [turn("A", 0, 6), turn("B", 2, 7), turn("C", 4, 12)],
    hypothesis: [turn("x", 0, 5), turn("y", 3, 9), turn("y", 10, 13)],
    printed: { scored: 14.5, missed: 4.5, falseAlarm: 0.75, confusion: 0.75, rate: 41.38 },
  },
  {
    what: "turns of one speaker that overlap each other",
    reference: [turn("A", 0, 6), turn("A", 5, 9), turn("B", 10, 15)],
    hypothesis: [turn("x", 0.5, 9.5), turn("x", 11, 13), turn("y", 13, 15)],
    printed: { scored: 12, missed: 1, falseAlarm: 0.25, confusion: 2, rate: 27.08 },
  },
];
