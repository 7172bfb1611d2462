import type { RetranscriptionCommand } from "../../src/session/command.ts";
import { GAP_WAIT } from "../../src/session/decide-audio.ts";
import { SessionBench } from "./session-bench.ts";

/** Chunks of two seconds; these are missing when the session is over. */
export function recorded(count: number, missing: readonly number[]): SessionBench {
  const bench = new SessionBench().start();
  for (let sequence = 0; sequence < count; sequence += 1) {
    if (!missing.includes(sequence)) bench.chunk(sequence);
  }
  bench.run({ type: "Stop", lastSequence: count - 1 });
  giveUp(bench);
  const none = { segments: [], merges: [] };
  bench.run({ type: "RecognitionDone", attempt: 1, speakers: none });
  return bench;
}

/** Until nothing is waited for any more. */
export function giveUp(bench: SessionBench): void {
  bench.now += GAP_WAIT;
  const { timeline, stop } = bench.state;
  while (timeline.next <= (stop?.lastSequence ?? -1)) {
    bench.run({ type: "GapTimeout", sequence: timeline.next });
  }
}

export function reread(bench: SessionBench, more: Partial<RetranscriptionCommand>): void {
  bench.run({
    type: "Reread",
    whole: false,
    from: 0,
    to: Number.MAX_SAFE_INTEGER,
    sequences: [],
    segments: [],
    ...more,
  });
}

/** What stands, in order. */
export function wordsOf(bench: SessionBench): string[] {
  const texts = new Map(
    bench.writes.flatMap((write) =>
      write.type === "SegmentText" ? [[write.segmentId, write.words] as const] : [],
    ),
  );
  return bench.state.segments.flatMap(({ id }) => texts.get(id)?.map(({ text }) => text) ?? []);
}
