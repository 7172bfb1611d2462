import { describe, expect, it } from "vitest";
import { silentLog } from "../../../src/base/log.ts";
import { systemRuntime } from "../../../src/base/runtime.ts";
import { FeedRegistry } from "../../../src/live/feed-registry.ts";
import { FrameReaders } from "../../../src/live/frame-reader.ts";
import { MemoryLiveSource } from "../../support/memory/live-source.ts";
import { codeOf } from "../../support/route-call.ts";

const SESSION = "s";
const FINALS = 5_000;

function open() {
  const source = new MemoryLiveSource();
  const options = { source, runtime: systemRuntime, log: silentLog, quietMs: 3_600_000 };
  const feeds = new FeedRegistry({ ...options, tickMs: 0, recent: 8, readTimeoutMs: 5_000 });
  return { source, feeds, reader: new FrameReaders(feeds).follow(SESSION) };
}

describe("frame reader", () => {
  it("frame reader: one that is slow gets every durable frame once, in order, then the end", async () => {
    const { source, feeds, reader } = open();
    for (let n = 0; n < FINALS; n += 1) source.append(SESSION);
    const seqs: number[] = [];
    let most = 0;
    for (let isOver = false; !isOver; ) {
      const frames = await reader.next(5_000);
      most = Math.max(most, frames.length);
      for (const frame of frames) {
        if ("at" in frame) seqs.push(frame.seq);
        if (frame.type === "SessionEnded") isOver = true;
      }
      // Much comes at once while the reader is busy, once it is live.
      if (seqs.length !== FINALS) continue;
      const burst = Array.from({ length: FINALS }, () => source.append(SESSION));
      source.fanOut(SESSION, burst);
      source.fanOut(SESSION, [source.appendStatus(SESSION, "completed")]);
    }
    reader.close();
    expect(seqs).toEqual(Array.from({ length: 2 * FINALS + 1 }, (_, at) => at + 1));
    expect(most).toBeLessThan(FINALS + 2_000);
    expect(feeds.size).toBe(0);
  });

  it("frame reader: gives nothing when nothing comes, and ends with the session's deletion", async () => {
    const { source, reader } = open();
    expect(await reader.next(5)).toEqual([]);
    source.fanOut(SESSION, [source.appendStatus(SESSION, "deleted")]);
    expect((await reader.next(5_000)).map(({ type }) => type)).toEqual(["SessionStatus"]);
    expect(await codeOf(reader.next(5_000))).toBe("session_deleted");
    reader.close();
  });
});
