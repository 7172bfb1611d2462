import { describe, expect, it } from "vitest";
import { silentLog } from "../../../src/base/log.ts";
import { systemRuntime } from "../../../src/base/runtime.ts";
import { type EncodedFrame, encodeFrame } from "../../../src/live/frames.ts";
import { SessionFeed } from "../../../src/live/session-feed.ts";
import { type FrameSink, Subscriber } from "../../../src/live/subscriber.ts";
import { MemoryLiveSource } from "../../support/memory/live-source.ts";
import { until } from "../../support/until.ts";

const SESSION = "s";

interface Told {
  type: string;
  seq?: number;
  status?: string;
}

/** Frames as a viewer reads them. */
class ReadingSink implements FrameSink {
  readonly frames: Told[] = [];
  readonly encoded: EncodedFrame[] = [];

  send(frames: readonly EncodedFrame[]): boolean {
    this.encoded.push(...frames);
    this.frames.push(...frames.map(({ bytes }) => JSON.parse(Buffer.from(bytes).toString())));
    return true;
  }

  async roomForPage(): Promise<boolean> {
    return true;
  }

  /** `Results 1`, `SessionEnded 3`, …, in the order they came. */
  get told(): string[] {
    return this.frames
      .filter(({ type }) => type !== "Heartbeat")
      .map(({ type, seq }) => `${type} ${seq}`);
  }

  get ends(): Told[] {
    return this.frames.filter(({ type }) => type === "SessionEnded");
  }
}

function follow(source: MemoryLiveSource, quietMs = 3_600_000): SessionFeed {
  const options = { sessionId: SESSION, source, runtime: systemRuntime, log: silentLog, quietMs };
  const feed = new SessionFeed({ ...options, tickMs: 0, recent: 8, readTimeoutMs: 5_000 });
  feed.start();
  return feed;
}

async function join(feed: SessionFeed, fromSeq: number | undefined, source: MemoryLiveSource) {
  const sink = new ReadingSink();
  await new Subscriber(feed, sink).start(
    fromSeq === undefined ? undefined : { seq: fromSeq },
    source.endOf(SESSION),
  );
  return sink;
}

describe("session end: those who were there", () => {
  it("are told once, after the last event, and get corrections after it", async () => {
    const source = new MemoryLiveSource();
    const feed = follow(source);
    const sink = await join(feed, 0, source);
    source.publish(SESSION);
    source.fanOut(SESSION, [source.appendStatus(SESSION, "processing")]);
    source.fanOut(SESSION, [source.appendStatus(SESSION, "completed")]);
    await until(() => sink.ends.length > 0, "the end");
    source.publish(SESSION, "corrected");
    await until(() => sink.told.includes("Results 4"), "the correction");
    feed.close();
    expect(sink.told).toEqual([
      "Results 1",
      "SessionStatus 2",
      "SessionStatus 3",
      "SessionEnded 3",
      "Results 4",
    ]);
    expect(sink.ends).toEqual([
      { type: "SessionEnded", session_id: SESSION, status: "completed", seq: 3 },
    ]);
  });

  it("are told after what comes with the end, in whatever order it comes", async () => {
    const source = new MemoryLiveSource();
    const feed = follow(source);
    const sink = await join(feed, 0, source);
    const [word, end, late] = [
      source.append(SESSION),
      source.appendStatus(SESSION, "completed"),
      source.append(SESSION),
    ];
    source.fanOut(SESSION, [end, late, word]);
    await until(() => sink.ends.length > 0, "the end");
    feed.close();
    expect(sink.told).toEqual(["Results 1", "SessionStatus 2", "Results 3", "SessionEnded 3"]);
  });

  it("wait for events that are known of and still on their way", async () => {
    const source = new MemoryLiveSource();
    const feed = follow(source);
    const sink = await join(feed, 0, source);
    const end = source.appendStatus(SESSION, "completed");
    let read = () => {};
    source.beforeRead = () => new Promise((resolve) => (read = resolve));
    source.append(SESSION);
    // The third is there, the second must be fetched.
    source.fanOut(SESSION, [end, source.append(SESSION)]);
    await until(() => sink.told.length > 0, "the status");
    expect(sink.told).toEqual(["SessionStatus 1"]);
    source.beforeRead = async () => {};
    read();
    await until(() => sink.ends.length > 0, "the end");
    feed.close();
    expect(sink.told.slice(1)).toEqual(["Results 2", "Results 3", "SessionEnded 3"]);
  });

  it("are told though nobody heard of it, once the record is asked", async () => {
    const source = new MemoryLiveSource();
    const feed = follow(source, 10);
    const sink = await join(feed, 0, source);
    source.appendStatus(SESSION, "completed");
    await until(() => sink.ends.length > 0, "the end");
    feed.close();
    expect(sink.told).toEqual(["SessionStatus 1", "SessionEnded 1"]);
  });

  it("share one encoding of it", async () => {
    const source = new MemoryLiveSource();
    const feed = follow(source);
    const sinks = [await join(feed, 0, source), await join(feed, 0, source)];
    source.fanOut(SESSION, [source.appendStatus(SESSION, "completed")]);
    await until(() => sinks.every(({ ends }) => ends.length > 0), "the end");
    feed.close();
    const [first, second] = sinks.map(({ encoded }) => encoded.at(-1));
    expect(first).toBe(second);
  });
});

describe("session end: those who come later", () => {
  it.each([
    ["with a snapshot", undefined, ["Snapshot 3", "SessionEnded 3"]],
    ["from the start", 0, ["Results 1", "SessionStatus 2", "Results 3", "SessionEnded 3"]],
    ["after the end", 2, ["Results 3", "SessionEnded 3"]],
    ["with everything", 3, ["SessionEnded 3"]],
    ["with more than there is", 9, ["Warning undefined", "Snapshot 3", "SessionEnded 3"]],
  ])("are told once: %s", async (_name, fromSeq, expected) => {
    const source = new MemoryLiveSource();
    source.append(SESSION);
    source.appendStatus(SESSION, "completed");
    source.append(SESSION);
    const feed = follow(source);
    const sink = await join(feed, fromSeq, source);
    source.publish(SESSION);
    await until(() => sink.told.includes("Results 4"), "a correction");
    feed.close();
    expect(sink.told).toEqual([...expected, "Results 4"]);
  });

  it("are told once when it ends while they catch up", async () => {
    const source = new MemoryLiveSource();
    for (let event = 0; event < 500; event += 1) source.append(SESSION);
    const feed = follow(source);
    let reads = 0;
    source.beforeRead = async () => {
      reads += 1;
      if (reads === 2) source.fanOut(SESSION, [source.appendStatus(SESSION, "failed")]);
    };
    const sink = await join(feed, 0, source);
    await until(() => sink.ends.length > 0, "the end");
    feed.close();
    expect(sink.told.slice(-2)).toEqual(["SessionStatus 501", "SessionEnded 501"]);
    expect(sink.ends).toEqual([
      { type: "SessionEnded", session_id: SESSION, status: "failed", seq: 501 },
    ]);
  });

  it("are not told of it when it was deleted meanwhile", async () => {
    const source = new MemoryLiveSource();
    source.appendStatus(SESSION, "completed");
    const end = source.endOf(SESSION);
    source.appendStatus(SESSION, "deleted");
    const feed = follow(source);
    const sink = new ReadingSink();
    await new Subscriber(feed, sink).start({ seq: 0 }, end);
    feed.close();
    expect(sink.told).toEqual(["SessionStatus 1", "SessionStatus 2"]);
  });
});

describe("session end: encoding", () => {
  it("is neither of the journal nor of the moment", () => {
    const frame = {
      type: "SessionEnded",
      session_id: SESSION,
      status: "completed",
      seq: 3,
    } as const;
    expect(encodeFrame(frame)).toMatchObject({ seq: undefined, transient: false });
  });
});
