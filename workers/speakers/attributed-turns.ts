import type { LocalOverlap } from "./local-voices.ts";
import type { SpeakerTurn } from "./speaker-tracker.ts";
import type { EmbeddedSubsegment, VoiceTurn } from "./utterance-voices.ts";
import { certaintyOf } from "./voice-likeness.ts";

/** A subsegment of an utterance with the voice that it was found to be of. */
export interface AttributedSubsegment extends EmbeddedSubsegment {
  turn: VoiceTurn;
  /** -1 while unknown. */
  cluster: number;
  /** It is long enough to find voices by. */
  isSignificant: boolean;
}

interface Attribution {
  start: number;
  end: number;
  turns: readonly VoiceTurn[];
  overlaps: readonly LocalOverlap[];
  subsegments: readonly AttributedSubsegment[];
  /** The mean vectors of the clusters. */
  means: ReadonlyMap<number, Float32Array>;
}

/** So many subsegments in a row of another voice part a turn that the segmentation took for one. */
const LEAST_RUN = 2;

/** The turns of an utterance with their clusters, in order and without gaps. */
export function attributedTurns(found: Attribution): SpeakerTurn[] {
  const { start, end, turns, subsegments, means } = found;
  if (turns.length === 0) return [{ start, end, cluster: -1, confidence: 0 }];
  const attributed = turns.flatMap((turn) => {
    const own = subsegments.filter((subsegment) => subsegment.turn === turn);
    return runsOf(own).map((run, n, runs): SpeakerTurn & { voice: number } => ({
      voice: turn.voice,
      start: n === 0 ? turn.start : boundary(runs[n - 1], run),
      end: n === runs.length - 1 ? turn.end : boundary(run, runs[n + 1]),
      spokenTo: n === runs.length - 1 ? turn.spokenTo : boundary(run, runs[n + 1]),
      cluster: mostOf(run),
      confidence: certaintyIn(run, means),
    }));
  });
  const turnsOfAll = withNeighbours(attributed);
  return turnsOfAll.map(({ voice: _, ...turn }) => {
    return { ...turn, ...overlapping(turn, turnsOfAll, found.overlaps) };
  });
}

/** Parts a turn's subsegments where their cluster changes for long enough; at least one, maybe empty, run. */
function runsOf(subsegments: readonly AttributedSubsegment[]): (readonly AttributedSubsegment[])[] {
  const runs: AttributedSubsegment[][] = [];
  for (const subsegment of subsegments) {
    const last = runs.at(-1);
    if (last?.[0]?.cluster === subsegment.cluster) last.push(subsegment);
    else runs.push([subsegment]);
  }
  if (runs.length < 2 || runs.some((run) => run.length < LEAST_RUN)) return [subsegments];
  return runs;
}

function boundary(
  one: readonly AttributedSubsegment[] | undefined,
  other: readonly AttributedSubsegment[] | undefined,
): number {
  const middle = (subsegment: AttributedSubsegment | undefined) =>
    ((subsegment?.start ?? 0) + (subsegment?.end ?? 0)) / 2;
  return Math.round((middle(one?.at(-1)) + middle(other?.[0])) / 2);
}

/** The cluster of most of the subsegments' speech; -1 without any. */
function mostOf(subsegments: readonly AttributedSubsegment[]): number {
  const shares = new Map<number, number>();
  for (const { cluster, start, end } of subsegments) {
    shares.set(cluster, (shares.get(cluster) ?? 0) + end - start);
  }
  const [most] = [...shares].sort(([, a], [, b]) => b - a);
  return most?.[0] ?? -1;
}

function certaintyIn(
  subsegments: readonly AttributedSubsegment[],
  means: ReadonlyMap<number, Float32Array>,
): number {
  const own = subsegments.filter(({ cluster }) => cluster >= 0);
  if (own.length === 0) return 0;
  const sum = own.reduce(
    (total, { embedding, cluster }) => total + certaintyOf(means, embedding, cluster),
    0,
  );
  return sum / own.length;
}

type LocalTurn = SpeakerTurn & { voice: number };

/** What is too short to have a voice of its own takes that of the same local voice, or of its neighbour. */
function withNeighbours(turns: readonly LocalTurn[]): LocalTurn[] {
  return turns.map((turn, n) => {
    if (turn.cluster >= 0) return turn;
    const known = turns.filter(({ cluster }) => cluster >= 0);
    const same = known.find(({ voice }) => voice === turn.voice);
    const before = turns.slice(0, n).findLast(({ cluster }) => cluster >= 0);
    return { ...turn, cluster: (same ?? before ?? known[0])?.cluster ?? -1 };
  });
}

/**
 * Who else speaks within the turn. Voices that have no turn of their own in the utterance are left
 * out: nobody knows whose they are.
 */
function overlapping(
  { start, end, cluster: own }: SpeakerTurn,
  turns: readonly LocalTurn[],
  overlaps: readonly LocalOverlap[],
): Pick<SpeakerTurn, "overlaps"> {
  const within = overlaps.flatMap((overlap) => {
    const cluster = turns.find(({ voice }) => voice === overlap.voice)?.cluster ?? -1;
    const span = { start: Math.max(start, overlap.start), end: Math.min(end, overlap.end) };
    return cluster < 0 || cluster === own || span.end <= span.start ? [] : [{ ...span, cluster }];
  });
  return within.length === 0 ? {} : { overlaps: within };
}
