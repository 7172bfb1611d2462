import { createSpeakerTracker } from "../../workers/speakers/session-tracker.ts";
import type { SpeakerTurn } from "../../workers/speakers/speaker-tracker.ts";
import type { SpokenTurn } from "./diarisation-score.ts";
import { cutUtterances } from "./utterance-cutter.ts";

const RATE = 16000;
const BLOCK = 1600;
/** An utterance is known to be over this many samples after its end. */
const PAUSE = 6400;

/** What the tracker said about one recording. Real-time factors are of one core. */
export interface DiarisationRun {
  first: SpokenTurn[];
  revised: SpokenTurn[];
  final: SpokenTurn[];
  segments: number;
  /** Segments whose label a viewer saw change before the final pass, and in it. */
  changedLive: number;
  changedFinal: number;
  onlineFactor: number;
  finalFactor: number;
  slowestStep: number;
  checkpointBytes: number;
}

/** Reads a recording as the worker does: blocks of 100 ms, turns at the end of each utterance. */
export async function runDiarisation(pcm: Int16Array): Promise<DiarisationRun> {
  const utterances = await cutUtterances(pcm);
  const tracker = createSpeakerTracker();
  const first: SpeakerTurn[] = [];
  const shown = new Map<number, number>();
  const changed = new Set<number>();
  let slowestStep = 0;
  let next = 0;
  const began = performance.now();
  for (let at = 0; at < pcm.length; at += BLOCK) {
    const stepBegan = performance.now();
    tracker.push(at, pcm.subarray(at, at + BLOCK));
    const utterance = utterances[next];
    if (utterance && (at + BLOCK >= utterance.end + PAUSE || at + BLOCK >= pcm.length)) {
      next++;
      const turns = tracker.turns(utterance.start, utterance.end);
      tracker.commit(turns, utterance.end);
      first.push(...turns);
      for (const turn of turns) shown.set(turn.start, turn.cluster);
      for (const start of apply(tracker.revisions(), shown)) changed.add(start);
    }
    slowestStep = Math.max(slowestStep, performance.now() - stepBegan);
  }
  const online = performance.now() - began;
  const revised = relabelled(first, shown);
  const checkpointBytes = tracker.checkpoint().length;
  const finalBegan = performance.now();
  const changedFinal = apply(tracker.finalPass(), shown).length;
  const final = performance.now() - finalBegan;
  const milliseconds = (1000 * pcm.length) / RATE;
  return {
    first: seconds(first),
    revised: seconds(revised),
    final: seconds(relabelled(first, shown)),
    segments: first.length,
    changedLive: changed.size,
    changedFinal,
    onlineFactor: online / milliseconds,
    finalFactor: final / milliseconds,
    slowestStep,
    checkpointBytes,
  };
}

/** Applies a proposal to the labels shown; returns the segments whose label it changed. */
function apply(
  proposal: ReturnType<ReturnType<typeof createSpeakerTracker>["revisions"]>,
  shown: Map<number, number>,
): number[] {
  const changed: number[] = [];
  for (const { from, into } of proposal.merges) {
    for (const [start, cluster] of shown) {
      if (cluster !== from) continue;
      shown.set(start, into);
      changed.push(start);
    }
  }
  for (const { start, cluster } of proposal.segments) {
    if (shown.get(start) === cluster) continue;
    shown.set(start, cluster);
    changed.push(start);
  }
  return changed;
}

function relabelled(turns: readonly SpeakerTurn[], shown: Map<number, number>): SpeakerTurn[] {
  return turns.map((turn) => ({ ...turn, cluster: shown.get(turn.start) ?? turn.cluster }));
}

function seconds(turns: readonly SpeakerTurn[]): SpokenTurn[] {
  return turns.map(({ start, end, cluster }) => ({
    start: start / RATE,
    end: end / RATE,
    speaker: `c${cluster}`,
  }));
}
