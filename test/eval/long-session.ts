import { SESSION_RATE } from "../../src/base/audio/sample-rate.ts";
import { createDeferred } from "../../src/base/deferred.ts";
import { SessionTracker } from "../../workers/speakers/session-tracker.ts";
import type { VoiceAnalysis } from "../../workers/speakers/voice-analysis.ts";
import { TrackerMeter } from "./metered-tracker.ts";
import { RememberedAnswers } from "./remembered-answers.ts";
import { textTable } from "./text-table.ts";
import { cutUtterances } from "./utterance-cutter.ts";

const BLOCK = SESSION_RATE / 10;

/**
 * What telling voices apart costs in a session of `hours`, made by repeating a recording: processor
 * time of all but the networks, which is the same for each hour, and the state, at 1, 2, 4, … hours.
 */
export async function longSession(
  pcm: Int16Array,
  { hours, voices }: { hours: number; voices: VoiceAnalysis },
): Promise<string> {
  const meter = new TrackerMeter();
  const tracker = meter.metered(new SessionTracker(new RememberedAnswers(voices)));
  const utterances = cutUtterances(pcm);
  const rows: string[][] = [];
  let due = 1;
  let before = { at: 0, ms: 0 };
  let length = 0;
  let news = createDeferred<void>();
  tracker.onNews?.(() => news.resolve());
  for (let lap = 0; length < hours * 3_600 * SESSION_RATE; lap += pcm.length) {
    for (const { start, end } of utterances) {
      tracker.begin?.(lap + start);
      for (let from = start; from < end; from += BLOCK) {
        tracker.push(lap + from, pcm.subarray(from, Math.min(end, from + BLOCK)));
      }
      for (; tracker.settle?.(lap + start, lap + end) === false; news = createDeferred()) {
        await news.promise;
      }
      tracker.commit(tracker.turns(lap + start, lap + end), lap + end);
      tracker.revisions();
    }
    tracker.checkpoint();
    length = lap + pcm.length;
    const at = length / SESSION_RATE / 3_600;
    if (at < due && at < hours) continue;
    const share = (meter.onlineMs - before.ms) / ((at - before.at) * 3_600_000);
    rows.push([
      at.toFixed(2),
      (100 * share).toFixed(2),
      meter.slowestMs.toFixed(0),
      (meter.checkpointBytes / 1024).toFixed(0),
      `${tracker.clusters().length}`,
    ]);
    before = { at, ms: meter.onlineMs };
    due *= 2;
  }
  const moved = tracker.finalPass();
  const names = ["hours", "% of a core since", "slowest call, ms", "state, kB", "voices"];
  return [
    textTable([names, ...rows]),
    `final pass ${meter.finalMs.toFixed(0)} ms; it moves ${moved.segments.length} segments and merges ${moved.merges.length} voices`,
  ].join("\n");
}
