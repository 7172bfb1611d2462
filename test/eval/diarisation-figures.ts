import { UNKNOWN_SPEAKER } from "../../src/session/speakers.ts";
import type { DiarisationRun } from "./diarisation-run.ts";
import { type DiarisationScore, type SpokenTurn, scoreDiarisation } from "./diarisation-score.ts";
import { mostIn, type NewVoices, newVoices, pooledVoices } from "./new-voices.ts";

export const STAGES = ["first", "live", "final"] as const;
export type Stage = (typeof STAGES)[number];
export type Parts = Omit<DiarisationScore, "mapping">;

/** The figures of one recording, or of a set pooled: seconds of speaker time, counts. */
export interface SpeakerFigures {
  set: string;
  name: string;
  recordings: number;
  seconds: number;
  /** As first shown, at the end of live, and after the final pass. */
  first: Parts;
  live: Parts;
  final: Parts;
  /** Had the same segments been called one speaker, and had their labels all been right. */
  oneSpeaker: Parts;
  floor: Parts;
  /** True speakers, and labels found at the end of live and after the final pass. */
  speakers: number;
  foundLive: number;
  found: number;
  /** Recordings with the right number of labels at the end, and off by more than one. */
  countedRight: number;
  farOff: number;
  segments: number;
  changedLive: number;
  changedFinal: number;
  changed: number;
  /** Seconds of all segments, and of those that changed. */
  shownSeconds: number;
  changedSeconds: number;
  namedLater: number;
  /** Seconds from the start of each speaker's voice until its own label was shown. */
  delays: number[];
  /** Speakers who never had a label of their own in the live part. */
  neverNamed: number;
  newVoices: NewVoices;
  onlineMs: number;
  finalMs: number;
  slowestMs: number;
  checkpointBytes: number;
  computeMs?: number;
}

/** What md-eval and our scorer compare: the turns without those whose speaker is unknown. */
export function namedTurns(turns: readonly SpokenTurn[]): SpokenTurn[] {
  return turns.filter(({ speaker }) => speaker !== UNKNOWN_SPEAKER);
}

export function figuresOf(
  { set, name, seconds }: { set: string; name: string; seconds: number },
  reference: readonly SpokenTurn[],
  run: DiarisationRun,
): SpeakerFigures {
  const { onlineMs, finalMs, slowestMs, checkpointBytes } = run.meter;
  const { segments, changedLive, changedFinal, changed, namedLater } = run;
  const { shownSeconds, changedSeconds } = run;
  const speakers = new Set(reference.map((turn) => turn.speaker)).size;
  const found = countSpeakers(run.final);
  const one = run.first.map((turn) => ({ ...turn, speaker: "one" }));
  const { mapping } = scoreDiarisation(reference, namedTurns(run.live));
  const { delays, never } = delaysOf(reference, run, mapping);
  return {
    ...{ set, name, recordings: 1, seconds, speakers, found },
    first: partsOf(reference, namedTurns(run.first)),
    live: partsOf(reference, namedTurns(run.live)),
    final: partsOf(reference, namedTurns(run.final)),
    oneSpeaker: partsOf(reference, one),
    floor: partsOf(reference, rightlyLabelled(reference, run.first)),
    foundLive: countSpeakers(run.live),
    countedRight: found === speakers ? 1 : 0,
    farOff: Math.abs(found - speakers) > 1 ? 1 : 0,
    ...{ segments, changedLive, changedFinal, changed, namedLater },
    ...{ shownSeconds, changedSeconds },
    ...{ delays, neverNamed: never },
    newVoices: newVoices(reference, { ...run, mapping }),
    ...{ onlineMs, finalMs, slowestMs, checkpointBytes, computeMs: run.computeMs },
  };
}

/** Several recordings as one: times and counts are summed, so that long ones weigh more. */
export function pooled(set: string, own: readonly SpeakerFigures[]): SpeakerFigures {
  const sum = (of: (each: SpeakerFigures) => number) =>
    own.reduce((all, each) => all + of(each), 0);
  const most = (of: (each: SpeakerFigures) => number) => Math.max(0, ...own.map(of));
  const parts = (of: (each: SpeakerFigures) => Parts) => sumOfParts(own.map(of));
  return {
    ...{ set, name: set },
    recordings: sum((each) => each.recordings),
    seconds: sum((each) => each.seconds),
    first: parts((each) => each.first),
    live: parts((each) => each.live),
    final: parts((each) => each.final),
    oneSpeaker: parts((each) => each.oneSpeaker),
    floor: parts((each) => each.floor),
    speakers: sum((each) => each.speakers),
    foundLive: sum((each) => each.foundLive),
    found: sum((each) => each.found),
    countedRight: sum((each) => each.countedRight),
    farOff: sum((each) => each.farOff),
    segments: sum((each) => each.segments),
    changedLive: sum((each) => each.changedLive),
    changedFinal: sum((each) => each.changedFinal),
    changed: sum((each) => each.changed),
    shownSeconds: sum((each) => each.shownSeconds),
    changedSeconds: sum((each) => each.changedSeconds),
    namedLater: sum((each) => each.namedLater),
    delays: own.flatMap((each) => each.delays),
    neverNamed: sum((each) => each.neverNamed),
    newVoices: pooledVoices(own.map((each) => each.newVoices)),
    onlineMs: sum((each) => each.onlineMs),
    finalMs: sum((each) => each.finalMs),
    slowestMs: most((each) => each.slowestMs),
    checkpointBytes: most((each) => each.checkpointBytes),
    computeMs: sum((each) => each.computeMs ?? 0) || undefined,
  };
}

function partsOf(reference: readonly SpokenTurn[], hypothesis: readonly SpokenTurn[]): Parts {
  const { mapping: _mapping, ...parts } = scoreDiarisation(reference, hypothesis);
  return parts;
}

function sumOfParts(all: readonly Parts[]): Parts {
  const sum = (of: (parts: Parts) => number) => all.reduce((total, each) => total + of(each), 0);
  const scored = sum((each) => each.scored);
  const missed = sum((each) => each.missed);
  const falseAlarm = sum((each) => each.falseAlarm);
  const confusion = sum((each) => each.confusion);
  const errors = missed + falseAlarm + confusion;
  return { scored, missed, falseAlarm, confusion, errorRate: scored > 0 ? errors / scored : 0 };
}

function countSpeakers(turns: readonly SpokenTurn[]): number {
  return new Set(namedTurns(turns).map((turn) => turn.speaker)).size;
}

/**
 * The time of `segments`, each instant with the name of one who then speaks, so that what remains
 * is speech outside of the segments, segments without speech, and second speakers.
 */
function rightlyLabelled(
  reference: readonly SpokenTurn[],
  segments: readonly SpokenTurn[],
): SpokenTurn[] {
  const labelled: SpokenTurn[] = [];
  for (const segment of segments) {
    const { start, end } = segment;
    const inside = reference.flatMap((turn) => [turn.start, turn.end]);
    const edges = [start, ...inside.filter((at) => at > start && at < end), end];
    edges.sort((a, b) => a - b);
    for (const [i, from] of edges.slice(0, -1).entries()) {
      const to = edges[i + 1] ?? end;
      const middle = (from + to) / 2;
      const speaking = reference.find((turn) => turn.start <= middle && middle < turn.end);
      labelled.push({ start: from, end: to, speaker: speaking?.speaker ?? "nobody" });
    }
  }
  return labelled;
}

/**
 * For each speaker of the reference, how long after the first word a segment that is mostly theirs
 * was shown with the label that is theirs at the end of live.
 */
function delaysOf(
  reference: readonly SpokenTurn[],
  { history }: DiarisationRun,
  mapping: ReadonlyMap<string, string>,
): { delays: number[]; never: number } {
  const delays: number[] = [];
  const speakers = new Set(reference.map((turn) => turn.speaker));
  for (const speaker of speakers) {
    const own = reference.filter((turn) => turn.speaker === speaker);
    const start = Math.min(...own.map((turn) => turn.start));
    const right = history.filter(
      (shown) => mapping.get(shown.speaker) === speaker && mostIn(reference, shown) === speaker,
    );
    if (right.length > 0) delays.push(Math.min(...right.map(({ at }) => at)) - start);
  }
  return { delays, never: speakers.size - delays.length };
}
