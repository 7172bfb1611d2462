import { connect, type NatsConnection } from "nats";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { newId } from "../../src/base/ids.ts";
import { silentLog } from "../../src/base/log.ts";
import { systemRuntime } from "../../src/base/runtime.ts";
import type { EncodedFrame } from "../../src/live/frames.ts";
import { SessionFeed } from "../../src/live/session-feed.ts";
import { Subscriber } from "../../src/live/subscriber.ts";
import { connectBus } from "../../src/nats/connect.ts";
import { LiveFanout } from "../../src/nats/live-fanout.ts";
import { NatsMessageBus } from "../../src/nats/message-bus.ts";
import { FaultProxy } from "../support/fault-proxy.ts";
import { MemoryLiveSource } from "../support/memory/live-source.ts";
import { startNats, type TestNats } from "../support/nats.ts";
import { until } from "../support/until.ts";

describe("live fan-out: a session's last event over a bad line", () => {
  let nats: TestNats;
  let actorSide: NatsConnection;
  let frontSide: NatsConnection;
  let line: FaultProxy;
  let journal: MemoryLiveSource;
  let sessionId: string;
  let seen: number[];
  /** The place of each SessionEnded among what came. */
  let ends: { after: number; seq: number }[];
  let feed: SessionFeed;

  beforeAll(async () => {
    nats = await startNats();
    actorSide = await connect({ servers: nats.url, token: nats.token });
  });
  afterAll(async () => {
    await actorSide.close();
    await nats.stop();
  });

  beforeEach(async () => {
    line = await FaultProxy.start("front-nats", Number(new URL(nats.url).port));
    const url = `nats://127.0.0.1:${line.port}`;
    frontSide = await connectBus({ url, token: nats.token, name: "front", log: silentLog });
    journal = new MemoryLiveSource();
    sessionId = newId();
    seen = [];
    ends = [];
    feed = followed();
  });
  afterEach(async () => {
    feed.close();
    line.heal();
    await frontSide.close();
    await line.stop();
  });

  function followed(): SessionFeed {
    const fanout = new LiveFanout(new NatsMessageBus(frontSide), systemRuntime);
    return new SessionFeed({
      sessionId,
      source: {
        follow: (id, onFrames, onDoubt) => fanout.follow(id, onFrames, onDoubt),
        replay: (id, from, limit) => journal.replay(id, from, limit),
        snapshot: (id) => journal.snapshot(id),
        beat: (id) => journal.beat(id),
      },
      runtime: systemRuntime,
      log: silentLog,
      ...{ tickMs: 0, recent: 8, readTimeoutMs: 5_000, quietMs: 3_600_000 },
    });
  }

  async function watch(): Promise<void> {
    feed.start();
    const send = (frames: readonly EncodedFrame[]) => {
      for (const { seq, bytes } of frames) {
        if (seq !== undefined) seen.push(seq);
        const frame = JSON.parse(Buffer.from(bytes).toString()) as { type: string; seq: number };
        if (frame.type === "SessionEnded") ends.push({ after: seen.length, seq: frame.seq });
      }
      return true;
    };
    await new Subscriber(feed, { send, roomForPage: async () => true }).start({ seq: 0 });
  }

  /** As an actor does: on record first, then told; resolves when the server has it. */
  async function tell(frame = journal.append(sessionId)): Promise<void> {
    new LiveFanout(new NatsMessageBus(actorSide), systemRuntime).publish(sessionId, [frame]);
    await actorSide.flush();
  }

  it("is seen though it was told while the subscription was on its way", async () => {
    const stall = line.inflict({ kind: "stall", ms: 60_000 });
    await watch();
    await tell();
    line.heal();
    await stall;
    await until(() => seen.length > 0, "the event");
    expect(seen).toEqual([1]);
  });

  it("is seen though it was told while the line was cut", async () => {
    await watch();
    await tell();
    await until(() => seen.length === 1, "the first event");
    const refusal = line.inflict({ kind: "refuse", ms: 60_000 });
    await until(() => line.connections === 0, "the cut");
    await tell();
    line.heal();
    await refusal;
    await until(() => seen.length === 2, "the second event");
    expect(seen).toEqual([1, 2]);
  });

  it("tells of the end, once, though the session ended while the line was cut", async () => {
    await watch();
    const refusal = line.inflict({ kind: "refuse", ms: 60_000 });
    await until(() => line.connections === 0, "the cut");
    await tell();
    await tell(journal.appendStatus(sessionId, "completed"));
    line.heal();
    await refusal;
    await until(() => ends.length > 0, "the end");
    await tell();
    await until(() => seen.length === 3, "a correction");
    expect(seen).toEqual([1, 2, 3]);
    expect(ends).toEqual([{ after: 2, seq: 2 }]);
  });
});
