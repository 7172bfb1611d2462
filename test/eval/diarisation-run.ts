import { SESSION_RATE } from "../../src/base/audio/sample-rate.ts";
import { createDeferred } from "../../src/base/deferred.ts";
import { SessionTracker } from "../../workers/speakers/session-tracker.ts";
import { toUpdate } from "../../workers/speech/open-utterance.ts";
import type { RunningEngine } from "../support/moonshine-engine.ts";
import { AwaitedVoices } from "./awaited-voices.ts";
import { readLive } from "./live-reading.ts";
import { TrackerMeter } from "./metered-tracker.ts";
import { ShownLabels, type ShownLabelsResult } from "./shown-labels.ts";
import { cutUtterances } from "./utterance-cutter.ts";

const BLOCK = SESSION_RATE / 10;
/** In the fast mode an utterance is known to be over this many samples after its end. */
const PAUSE = 6400;

/** What the service said about one recording, and what its tracker cost. */
export interface DiarisationRun extends ShownLabelsResult {
  meter: TrackerMeter;
  /** Processor time of all reading, recognition with it; absent in the fast mode. */
  computeMs?: number;
}

/**
 * Reads a recording with the worker's own session reader: recogniser, voice activity, tracker and
 * final pass. The audio comes live in pieces of `pieceMs`; the last one is short.
 */
export async function runSession(
  pcm: Int16Array,
  { pieceMs, engine }: { pieceMs: number; engine: RunningEngine },
): Promise<DiarisationRun> {
  const meter = new TrackerMeter();
  const voices = new AwaitedVoices(engine.voices());
  const tracker = new SessionTracker(voices);
  const createTracker = () => meter.metered(tracker);
  const interims: { at: number; cluster: number }[] = [];
  const afterPiece = async (at: number): Promise<void> => {
    await voices.answered();
    interims.push({ at, cluster: tracker.currentCluster() });
  };
  const live = { pcm, pieceMs, engine, createTracker, afterPiece };
  const { messages, computeMs } = await readLive(live);
  const labels = new ShownLabels(pcm.length);
  for (const { at, message } of messages) {
    for (; (interims[0]?.at ?? at) < at; interims.shift()) {
      const [interim = { at, cluster: -1 }] = interims;
      labels.interim(interim.at / 1000, interim.cluster);
    }
    if (message.$case === "chunkFailed") throw new Error(message.value.message);
    if (message.$case === "utterance") labels.utterance(at / 1000, message.value);
    if (message.$case === "done") {
      return { ...labels.finish(at / 1000, message.value.speakers), meter, computeMs };
    }
  }
  throw new Error("the reading ended without its final pass");
}

/**
 * The tracker by itself, in seconds instead of minutes: utterances are cut by voice activity alone,
 * each of their turns is a segment, and blocks are of 100 ms.
 */
export async function runTracker(pcm: Int16Array, engine: RunningEngine): Promise<DiarisationRun> {
  const utterances = cutUtterances(pcm);
  const meter = new TrackerMeter();
  const tracker = meter.metered(engine.createTracker());
  let news = createDeferred<void>();
  tracker.onNews?.(() => news.resolve());
  const labels = new ShownLabels(pcm.length);
  let next = 0;
  let begun = 0;
  for (let from = 0; from < pcm.length; from += BLOCK) {
    const to = Math.min(pcm.length, from + BLOCK);
    // One that begins before the one before is told begins then, as in the worker.
    for (; begun <= next && (utterances[begun]?.start ?? to) < to; begun++) {
      tracker.begin?.(utterances[begun]?.start ?? 0);
    }
    tracker.push(from, pcm.subarray(from, from + BLOCK));
    for (let due = utterances[next]; due !== undefined; due = utterances[next]) {
      const { start, end } = due;
      if (to < end + PAUSE && to < pcm.length) break;
      next++;
      for (news = createDeferred(); tracker.settle?.(start, end) === false; ) {
        await news.promise;
        news = createDeferred();
      }
      const turns = tracker.turns(start, end);
      tracker.commit(turns, end);
      const segments = turns.map((turn) => {
        return { ...turn, words: [], confidence: 1, overlaps: [...(turn.overlaps ?? [])] };
      });
      const speakers = toUpdate(tracker.revisions(), false);
      labels.utterance(to / SESSION_RATE, { start, end, segments, speakers });
    }
  }
  tracker.checkpoint();
  const speakers = toUpdate(tracker.finalPass(), true);
  return { ...labels.finish(pcm.length / SESSION_RATE, speakers), meter };
}
