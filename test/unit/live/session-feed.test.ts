import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { AppError } from "../../../src/base/errors.ts";
import { silentLog } from "../../../src/base/log.ts";
import { systemRuntime } from "../../../src/base/runtime.ts";
import type { EncodedFrame } from "../../../src/live/frames.ts";
import { InterimThrottle, SessionFeed } from "../../../src/live/session-feed.ts";
import { type FrameSink, Subscriber } from "../../../src/live/subscriber.ts";
import type {
  DurableFrame,
  InterimResultsFrame,
  NewestFrame,
} from "../../../src/wire/live-frames.ts";
import { MemoryLiveSource } from "../../support/memory/live-source.ts";
import { until } from "../../support/until.ts";

const SESSION = "s";
const READS = { readTimeoutMs: 5_000, quietMs: 3_600_000 };

class RecordingSink implements FrameSink {
  readonly seqs: number[] = [];

  send(frames: readonly EncodedFrame[]): boolean {
    for (const { seq } of frames) if (seq !== undefined) this.seqs.push(seq);
    return true;
  }

  async roomForPage(): Promise<boolean> {
    return true;
  }
}

type Step = "publish" | "tell" | "lose" | "repeat" | "late" | "join" | "wait";

const STEPS: Step[] = [
  "publish",
  "publish",
  "publish",
  "tell",
  "lose",
  "repeat",
  "late",
  "join",
  "wait",
];

/** Runs one history and returns what each viewer got and from where. */
async function run(steps: readonly Step[], recent: number): Promise<[number, number[]][]> {
  const source = new MemoryLiveSource();
  source.beforeRead = () => new Promise((wake) => setImmediate(wake));
  const options = { sessionId: SESSION, source, runtime: systemRuntime, log: silentLog };
  const feed = new SessionFeed({ ...options, tickMs: 0, recent, ...READS });
  feed.start();
  const joined: { from: number; sink: RecordingSink; begun: Promise<void> }[] = [];
  for (const step of steps) {
    if (step === "publish") source.publish(SESSION);
    if (step === "lose") source.append(SESSION);
    if (step === "tell") source.fanOut(SESSION, [newest(source.append(SESSION).seq)]);
    if (step === "repeat" && source.newest(SESSION) > 0) {
      source.fanOut(SESSION, await source.replay(SESSION, source.newest(SESSION) - 1, 1));
    }
    if (step === "late") {
      const [first, second] = [source.append(SESSION), source.append(SESSION)];
      source.fanOut(SESSION, [second, first]);
    }
    if (step === "wait") await new Promise((wake) => setTimeout(wake, 1));
    if (step === "join") {
      const from = Math.floor(source.newest(SESSION) / 2);
      const sink = new RecordingSink();
      const begun = new Subscriber(feed, sink).start({ seq: from });
      joined.push({ from, sink, begun });
    }
  }
  // Nothing comes after it that would show the loss.
  const last = source.append(SESSION).seq;
  source.doubt(SESSION);
  await Promise.all(joined.map(({ begun }) => begun));
  await until(() => joined.every(({ sink }) => (sink.seqs.at(-1) ?? 0) >= last), "the last event");
  feed.close();
  return joined.map(({ from, sink }) => [from, sink.seqs]);
}

describe("session feed: order", () => {
  it("brings every viewer every durable event after its start, once, in order", async () => {
    const history = fc.array(fc.constantFrom(...STEPS), { minLength: 1, maxLength: 60 });
    await fc.assert(
      fc.asyncProperty(history, fc.integer({ min: 1, max: 20 }), async (steps, recent) => {
        for (const [from, seqs] of await run(steps, recent)) {
          expect(seqs).toEqual(Array.from(seqs, (_, index) => from + index + 1));
        }
      }),
      { numRuns: 150 },
    );
  }, 60_000);

  it("does not hold back what comes after a rest", async () => {
    const source = new MemoryLiveSource();
    const options = { sessionId: SESSION, source, runtime: systemRuntime, log: silentLog };
    const tickMs = 24 * 3_600_000;
    const feed = new SessionFeed({ ...options, tickMs, recent: 8, ...READS });
    feed.start();
    const sink = new RecordingSink();
    await new Subscriber(feed, sink).start({ seq: 0 });
    source.publish(SESSION);
    source.publish(SESSION);
    await until(() => sink.seqs.length > 0, "the first frames");
    source.publish(SESSION);
    await new Promise((wake) => setTimeout(wake, 20));
    feed.close();
    expect(sink.seqs).toEqual([1, 2]);
  });
});

describe("session feed: events that it is only told of", () => {
  it("reads them at once, and passes the word on to nobody", async () => {
    const source = new MemoryLiveSource();
    const options = { sessionId: SESSION, source, runtime: systemRuntime, log: silentLog };
    const feed = new SessionFeed({ ...options, tickMs: 0, recent: 8, ...READS });
    feed.start();
    feed.establish(0);
    const delivered: string[] = [];
    feed.add({ deliver: (frames) => void delivered.push(...frames.map(typeOf)) });
    source.append(SESSION);
    source.fanOut(SESSION, [newest(source.append(SESSION).seq)]);
    await until(() => delivered.length === 2, "both events");
    feed.close();
    expect(delivered).toEqual(["durable", "durable"]);
    expect(source.replays).toBe(1);
  });
});

describe("session feed: rests", () => {
  it("lets no durable frame wait for the rest after one that is not", async () => {
    const source = new MemoryLiveSource();
    const options = { sessionId: SESSION, source, runtime: systemRuntime, log: silentLog };
    const tickMs = 24 * 3_600_000;
    const feed = new SessionFeed({ ...options, tickMs, recent: 8, ...READS });
    feed.start();
    feed.establish(0);
    const delivered: string[] = [];
    feed.add({ deliver: (frames) => void delivered.push(frames.map(typeOf).join(" ")) });
    const end = (at: number) => ({ type: "UtteranceEnd", session_id: SESSION, end: at }) as const;
    source.fanOut(SESSION, [end(1)]);
    await until(() => delivered.length === 1, "the first frame");
    // Rests, and goes out with the durable one.
    source.fanOut(SESSION, [end(2)]);
    source.publish(SESSION);
    await until(() => delivered.length === 2, "the durable frame");
    source.publish(SESSION);
    source.fanOut(SESSION, [end(3)]);
    await new Promise((wake) => setTimeout(wake, 20));
    feed.close();
    expect(delivered).toEqual(["UtteranceEnd", "UtteranceEnd durable"]);
  });
});

function newest(seq: number): NewestFrame {
  return { type: "Newest", session_id: SESSION, seq };
}

function typeOf({ seq, bytes }: EncodedFrame): string {
  if (seq !== undefined) return "durable";
  return (JSON.parse(Buffer.from(bytes).toString()) as { type: string }).type;
}

describe("session feed: sharing", () => {
  it("builds a frame once for all viewers, and hands on what came in a tick together", async () => {
    const source = new MemoryLiveSource();
    const options = { sessionId: SESSION, source, runtime: systemRuntime, log: silentLog };
    const feed = new SessionFeed({ ...options, tickMs: 20, recent: 64, ...READS });
    feed.start();
    feed.establish(0);
    const deliveries: EncodedFrame[][][] = [[], [], []];
    for (const delivered of deliveries) {
      feed.add({ deliver: (frames) => void delivered.push([...frames]) });
    }
    // In one turn of the event loop: no tick can end in between.
    for (let event = 0; event < 10; event += 1) source.publish(SESSION);
    await until(() => deliveries.every((delivered) => delivered.length > 0), "the tick");
    feed.close();
    const [first] = deliveries;
    expect(first?.map((frames) => frames.map(({ seq }) => seq))).toEqual([
      [1, 2, 3, 4, 5, 6, 7, 8, 9, 10],
    ]);
    for (const delivered of deliveries) {
      const shared = delivered.flat();
      expect(shared).toHaveLength(10);
      for (const [at, frame] of shared.entries()) expect(frame).toBe(first?.[0]?.[at]);
    }
  });
});

describe("session feed: silence", () => {
  function quietFeed(quietMs: number): { source: MemoryLiveSource; feed: SessionFeed } {
    const source = new MemoryLiveSource();
    const options = { sessionId: SESSION, source, runtime: systemRuntime, log: silentLog };
    const feed = new SessionFeed({ ...options, ...READS, quietMs, tickMs: 0, recent: 8 });
    feed.start();
    return { source, feed };
  }

  it("finds the last event though nothing is heard of it, and gives a sign of life", async () => {
    const { source, feed } = quietFeed(10);
    const sink = new RecordingSink();
    await new Subscriber(feed, sink).start({ seq: 0 });
    const delivered: string[] = [];
    feed.add({ deliver: (frames) => void delivered.push(...frames.map(typeOf)) });
    source.append(SESSION);
    await until(() => sink.seqs.length > 0, "the event");
    await until(() => delivered.includes("Heartbeat"), "a heartbeat");
    feed.close();
    expect(sink.seqs).toEqual([1]);
  });

  it("asks seldom after a session that is over, whose viewers get their signs of life all the same", async () => {
    const { source, feed } = quietFeed(5);
    source.isOver = true;
    let beats = 0;
    feed.add({
      deliver: (frames) => {
        beats += frames.filter((frame) => typeOf(frame) === "Heartbeat").length;
      },
    });
    await until(() => beats >= 15, "signs of life");
    expect(source.beats).toBe(1);
    source.doubt(SESSION);
    await until(() => source.beats === 2, "the question after a doubt");
    await until(() => source.beats === 3, "the next one after many silences");
    feed.close();
    expect(beats).toBeGreaterThan(30);
  });

  it("finds what was in doubt before anybody had read the journal", async () => {
    const { source, feed } = quietFeed(3_600_000);
    source.append(SESSION);
    // Its reading began before the second event, and ends after the doubt about it was settled.
    let finish = () => {};
    source.beforeRead = () => new Promise((resolve) => (finish = resolve));
    const early = feed.replay(0).then((page) => page.filter(({ seq }) => seq === 1));
    const finishEarly = finish;
    source.beforeRead = async () => {};
    source.append(SESSION);
    source.doubt(SESSION);
    await until(() => source.beats === 1, "the question");
    finishEarly();
    expect(await early).toHaveLength(1);
    const sink = new RecordingSink();
    const begun = new Subscriber(feed, sink).start({ seq: 1 });
    const delivered: string[] = [];
    feed.add({ deliver: (frames) => void delivered.push(...frames.map(typeOf)) });
    feed.establish(1);
    await begun;
    await until(() => sink.seqs.length > 0, "the second event");
    feed.close();
    expect(sink.seqs).toEqual([2]);
    // The actor is not silent: its own heartbeats tell the lag.
    expect(delivered).toEqual(["durable"]);
  });

  it("asks again when the record cannot be read, and no more when the session is gone", async () => {
    const { source, feed } = quietFeed(1);
    const answers = [new Error("away"), new AppError("not_found", "gone")];
    let asked = 0;
    source.beforeRead = async () => {
      asked += 1;
      throw answers[asked - 1] ?? new Error("asked too often");
    };
    await until(() => asked === 2, "the second question");
    await new Promise((wake) => setTimeout(wake, 20));
    feed.close();
    expect(asked).toBe(2);
  });
});

describe("session feed: redaction", () => {
  const interim = (start: number, revision: number): InterimResultsFrame => ({
    type: "Results",
    session_id: SESSION,
    segment_id: "being-said",
    revision,
    is_final: false,
    start,
    duration: 2,
    transcript: "secret",
    confidence: 1,
    speaker: "S1",
    words: [],
    stable_words: 0,
  });
  const redacted = (seq: number, start: number, end: number, id = "r"): DurableFrame => ({
    type: "Redacted",
    session_id: SESSION,
    seq,
    at: "2026-01-01T00:00:00.000Z",
    redaction_id: id,
    span: { start, end },
    segment_ids: [],
  });

  /** A feed that waits with what it delivers until the test lets it. */
  function slowFeed() {
    const source = new MemoryLiveSource();
    const options = { sessionId: SESSION, source, runtime: systemRuntime, log: silentLog };
    const feed = new SessionFeed({ ...options, tickMs: 20, recent: 8, ...READS });
    feed.start();
    feed.establish(0);
    const delivered: string[] = [];
    feed.add({
      deliver: (frames) => void delivered.push(...frames.map(({ bytes }) => textOf(bytes))),
    });
    return { source, feed, delivered };
  }

  const textOf = (bytes: Uint8Array) => Buffer.from(bytes).toString();

  it("shows nobody the hypothesis that a redaction covers, not in a tick and not in a snapshot", async () => {
    const { source, feed, delivered } = slowFeed();
    source.fanOut(SESSION, [interim(10, 1), redacted(1, 11, 20)]);
    const { encoded } = await feed.snapshot();
    expect(textOf(encoded.bytes)).not.toContain("secret");
    await until(() => delivered.length > 0, "the tick");
    feed.close();
    expect(delivered.join()).toContain("Redacted");
    expect(delivered.join()).not.toContain("secret");
  });

  it("keeps the hypothesis that a redaction does not touch", async () => {
    const { source, feed } = slowFeed();
    source.fanOut(SESSION, [interim(10, 1), redacted(1, 12, 20)]);
    const { encoded } = await feed.snapshot();
    feed.close();
    expect(textOf(encoded.bytes)).toContain("secret");
  });

  it("shows nobody the hypothesis that comes after its redaction, of a host that was cut off", async () => {
    const { source, feed, delivered } = slowFeed();
    source.fanOut(SESSION, [redacted(1, 11, 20)]);
    await until(() => delivered.length > 0, "the redaction");
    source.fanOut(SESSION, [interim(10, 1), redacted(2, 30, 31, "other")]);
    const { encoded } = await feed.snapshot();
    await until(() => delivered.join().includes("other"), "what came after it");
    feed.close();
    expect(textOf(encoded.bytes)).not.toContain("secret");
    expect(delivered.join()).not.toContain("secret");
  });
});

describe("interim gate", () => {
  const interim = (start: number, end: number, speaker = "S1"): InterimResultsFrame => ({
    type: "Results",
    session_id: SESSION,
    segment_id: "being-said",
    revision: 1,
    is_final: false,
    start,
    duration: end - start,
    transcript: "words",
    confidence: 1,
    speaker,
    words: [],
    stable_words: 0,
  });
  const durable = { session_id: SESSION, seq: 1, at: "2026-01-01T00:00:00.000Z" };
  const redacted = (start: number, end: number, speaker?: string): DurableFrame => ({
    ...durable,
    type: "Redacted",
    redaction_id: "r",
    span: { start, end },
    speaker,
    segment_ids: [],
  });
  const final = (start: number, end: number): DurableFrame => {
    const { stable_words: _, ...body } = interim(start, end);
    return { ...body, ...durable, is_final: true };
  };

  it("shows what is being said after the newest final, and nothing that is final already", () => {
    const gate = new InterimThrottle();
    gate.note(final(2, 5));
    expect([interim(3, 5), interim(4, 6), interim(5, 7)].map((each) => gate.admits(each))).toEqual([
      false,
      true,
      true,
    ]);
  });

  it("learns from a heartbeat how far words are final", () => {
    const gate = new InterimThrottle();
    const beat = { audio_received: 9, audio_finalised: 5, lag_ms: 0, gaps: 0 };
    gate.note({ type: "Heartbeat", session_id: SESSION, seq: 7, ...beat });
    expect([interim(3, 5), interim(4, 6)].map((each) => gate.admits(each))).toEqual([false, true]);
  });

  it("withholds of one voice's redaction that voice, and voices that nobody knows yet", () => {
    const gate = new InterimThrottle();
    gate.note(redacted(2, 5, "S1"));
    const heard = [interim(4, 6, "S1"), interim(4, 6, "S2"), interim(4, 6, "UU"), interim(5, 6)];
    expect(heard.map((each) => gate.admits(each))).toEqual([false, true, false, true]);
  });

  it("shows nothing of a session that was deleted", () => {
    const gate = new InterimThrottle();
    gate.note({ ...durable, type: "SessionStatus", status: "deleted" });
    expect(gate.admits(interim(4, 6))).toBe(false);
  });
});
