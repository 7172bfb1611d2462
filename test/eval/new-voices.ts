import { UNKNOWN_SPEAKER } from "../../src/session/speakers.ts";
import type { SpokenTurn } from "./diarisation-score.ts";
import type { InterimShown, LabelShown } from "./shown-labels.ts";

/** So much speech of a voice should be enough to tell it apart, seconds. */
const HEARD = 1.5;

/** How soon voices that were not heard before are told apart. */
export interface NewVoices {
  /** Seconds from when `HEARD` of a voice were heard until its own label was in a final, of those that got one. */
  waits: number[];
  /** The same, in an interim result or a final. */
  told: number[];
  /** What of that was waiting for the first final with speech of the voice: before it nothing has a label. */
  finals: number[];
  /** Labels that were shown at some time and are nobody's. */
  falseLabels: number;
  /** Interim results while somebody speaks: how many have that voice's label, none, and another's. */
  interims: { right: number; unknown: number; wrong: number };
}

/** What was shown, in order of time, and whose each label is. */
interface Shown {
  history: readonly LabelShown[];
  interims: readonly InterimShown[];
  mapping: ReadonlyMap<string, string>;
}

export function newVoices(
  reference: readonly SpokenTurn[],
  { history, interims, mapping }: Shown,
): NewVoices {
  const found: NewVoices = {
    ...{ waits: [], told: [], finals: [] },
    falseLabels: labelsOfNobody(history, mapping),
    interims: { right: 0, unknown: 0, wrong: 0 },
  };
  const spoken = interims.map(({ at, speaker: label }) => {
    const speaker = mostIn(reference, { start: at - HEARD, end: at, speaker: label });
    return { at, label, speaker, isRight: mapping.get(label) === speaker };
  });
  for (const { label, speaker, isRight } of spoken) {
    if (speaker === undefined) continue;
    found.interims[isRight ? "right" : label === UNKNOWN_SPEAKER ? "unknown" : "wrong"] += 1;
  }
  for (const speaker of new Set(reference.map((turn) => turn.speaker))) {
    const heard = heardAt(reference.filter((turn) => turn.speaker === speaker));
    const theirs = history.filter((shown) => mostIn(reference, shown) === speaker);
    const right = theirs.filter((shown) => mapping.get(shown.speaker) === speaker);
    if (heard === undefined || right.length === 0) continue;
    const sooner = spoken.filter((interim) => interim.isRight && interim.speaker === speaker);
    const [inFinal, inInterim] = [right, sooner].map((all) => earliest(all) - heard);
    const later = theirs.map(({ at }) => at - heard).filter((seconds) => seconds >= 0);
    const wait = Math.max(0, inFinal ?? 0);
    found.waits.push(wait);
    found.told.push(Math.max(0, Math.min(wait, inInterim ?? wait)));
    found.finals.push(Math.min(wait, ...later));
  }
  return found;
}

/** Of several recordings. */
export function pooledVoices(all: readonly NewVoices[]): NewVoices {
  const sum = (of: (each: NewVoices) => number) => all.reduce((total, each) => total + of(each), 0);
  return {
    waits: all.flatMap(({ waits }) => waits),
    told: all.flatMap(({ told }) => told),
    finals: all.flatMap(({ finals }) => finals),
    falseLabels: sum(({ falseLabels }) => falseLabels),
    interims: {
      right: sum(({ interims }) => interims.right),
      unknown: sum(({ interims }) => interims.unknown),
      wrong: sum(({ interims }) => interims.wrong),
    },
  };
}

function earliest(shown: readonly { at: number }[]): number {
  return Math.min(...shown.map(({ at }) => at));
}

function labelsOfNobody(history: Shown["history"], mapping: Shown["mapping"]): number {
  const labels = new Set(history.map(({ speaker }) => speaker));
  labels.delete(UNKNOWN_SPEAKER);
  return [...labels].filter((label) => !mapping.has(label)).length;
}

/** Who speaks longest in a span. */
export function mostIn(reference: readonly SpokenTurn[], span: SpokenTurn): string | undefined {
  const spoken = new Map<string, number>();
  for (const { start, end, speaker } of reference) {
    const shared = Math.min(end, span.end) - Math.max(start, span.start);
    if (shared > 0) spoken.set(speaker, (spoken.get(speaker) ?? 0) + shared);
  }
  return [...spoken].sort(([, a], [, b]) => b - a)[0]?.[0];
}

/** When so much of a voice's turns was heard; undefined where they are shorter. */
function heardAt(turns: readonly SpokenTurn[]): number | undefined {
  let left = HEARD;
  for (const { start, end } of [...turns].sort((a, b) => a.start - b.start)) {
    if (end - start >= left) return start + left;
    left -= end - start;
  }
  return undefined;
}
