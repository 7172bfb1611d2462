import { status } from "@grpc/grpc-js";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import type { UserPrincipal } from "../../src/access/principal.ts";
import { newId } from "../../src/base/ids.ts";
import type { WatchTranscriptRequest } from "../../src/wire/gen/voice/v1/sessions.ts";
import type { ServerFrame } from "../../src/wire/live-frames.ts";
import { GrpcFixture } from "../support/grpc-fixture.ts";
import type { Told } from "../support/question-fixture.ts";
import { TranscriptWatch } from "../support/transcript-watch.ts";
import { until } from "../support/until.ts";

function upTo(last: number, from = 1): number[] {
  return Array.from({ length: last - from + 1 }, (_, index) => from + index);
}

describe("gRPC: watching a transcript", () => {
  let fixture: GrpcFixture;
  let owner: UserPrincipal;
  let workspaceId: string;
  let key: string;
  let told: Told;
  let lines = 0;
  const watches: TranscriptWatch[] = [];

  beforeAll(async () => {
    fixture = await GrpcFixture.open({ limits: { watchesPerKey: 4 } });
    owner = await fixture.query.fixture.user("participant", "Olga Owner");
    workspaceId = await fixture.query.fixture.workspace(owner.id);
    key = (await fixture.key(owner, workspaceId)).secret;
  });
  afterEach(async () => {
    for (const watch of watches.splice(0)) watch.cancel();
    await until(() => fixture.service.figures.watches === 0, "every watch to be forgotten");
  });
  afterAll(() => fixture.close());

  async function begin(): Promise<void> {
    told = await fixture.query.tell(workspaceId, owner, []);
    lines = 0;
  }

  /** Segments, one event each; words may be many. */
  async function say(count: number, words = 3): Promise<void> {
    for (let n = 0; n < count; n += 1) {
      const text = Array.from({ length: words }, (_, index) => `w${index}`).join(" ");
      await told.story.say("S1", lines * 80_000, text);
      lines += 1;
    }
  }

  function watch(
    request: Partial<WatchTranscriptRequest> = {},
    secret = key,
    options: { deadline?: number } = {},
  ): TranscriptWatch {
    const { sessionId } = told;
    const whole = { sessionId, ...request };
    const opened = new TranscriptWatch(fixture.client(), secret, whole, options);
    watches.push(opened);
    return opened;
  }

  const reached = (each: TranscriptWatch, seq: number) =>
    each.until(() => each.lastSeq >= seq, `event ${seq}`);

  it("from_seq: every durable event after it, once and in order, then live", async () => {
    await begin();
    await say(30);
    const all = watch({ fromSeq: 0 });
    const some = watch({ fromSeq: 12 });
    await reached(all, 30);
    await say(5);
    await fixture.publish(told.sessionId, 30);
    await reached(all, 35);
    await reached(some, 35);
    expect(all.seqs).toEqual(upTo(35));
    expect(some.seqs).toEqual(upTo(35, 13));
    expect(all.events[0]).toMatchObject({ sessionId: told.sessionId, seq: 1 });
    expect(all.events[0]?.atMs).toBeGreaterThan(Date.UTC(2026, 0, 1));
    expect(all.events[0]?.event).toMatchObject({
      $case: "finalSegment",
      value: { startMs: 0, endMs: 750, speakerLabel: "S1", text: "w0 w1 w2", revision: 1 },
    });
  });

  it("what the bus lost is fetched: a heartbeat tells of it, a later event too", async () => {
    await begin();
    await say(2);
    const all = watch({ fromSeq: 0 });
    await reached(all, 2);
    await say(3);
    const { sessionId } = told;
    const figures = { audio_received: 1.5, audio_finalised: 1, lag_ms: 12.4, gaps: 0 };
    fixture.send(sessionId, [{ type: "Heartbeat", session_id: sessionId, seq: 5, ...figures }]);
    await reached(all, 5);
    expect(all.events.map(({ event }) => event)).toContainEqual({
      $case: "heartbeat",
      value: { seq: 5, receivedMs: 1_500, finalisedMs: 1_000, lagMs: 12, gaps: 0 },
    });
    await say(4);
    await fixture.publish(sessionId, 8);
    await reached(all, 9);
    expect(all.seqs).toEqual(upTo(9));
  });

  it("cuts: a client that comes back with its last seq misses nothing and gets nothing twice", async () => {
    await begin();
    const seqs: number[] = [];
    let published = 0;
    const speaking = (async () => {
      for (let n = 0; n < 40; n += 1) {
        await say(1);
        // Every third turn is lost by the bus.
        if (n % 3 !== 2) await fixture.publish(told.sessionId, published);
        published = lines;
      }
      await fixture.publish(told.sessionId, 0);
    })();
    while (seqs.length < 40) {
      const each = watch({ fromSeq: seqs.at(-1) ?? 0, durableOnly: true });
      const wanted = Math.min(40, (seqs.at(-1) ?? 0) + 7);
      await reached(each, wanted);
      each.cancel();
      await each.end();
      seqs.push(...each.seqs);
    }
    await speaking;
    expect(seqs).toEqual(upTo(40));
  });

  it("without from_seq: a snapshot, then what comes after it", async () => {
    await begin();
    await say(3);
    const each = watch();
    await each.until(() => each.events.length > 0, "the snapshot");
    await say(1);
    await fixture.publish(told.sessionId, 3);
    await reached(each, 4);
    expect(each.kinds).toEqual(["snapshot", "finalSegment"]);
    const [first] = each.events;
    expect(first?.seq).toBeUndefined();
    expect(first?.event).toMatchObject({
      $case: "snapshot",
      value: { seq: 3, status: "recording", segments: [{}, {}, {}], nextPageToken: "" },
    });
  });

  it("a seq that is not there yet: a notice and a snapshot instead", async () => {
    await begin();
    await say(1);
    const each = watch({ fromSeq: 99 });
    await each.until(() => each.events.length === 2, "notice and snapshot");
    expect(each.events[0]?.event).toMatchObject({ value: { code: "position_unknown" } });
    expect(each.kinds[1]).toBe("snapshot");
  });

  it("a seq of another event, as after a restore: a notice and a snapshot instead", async () => {
    await begin();
    await say(2);
    const fresh = watch();
    await fresh.until(() => fresh.events.length > 0, "the snapshot");
    const [first] = fresh.events;
    if (first?.event?.$case !== "snapshot") throw new Error("no snapshot");
    const { seq, seqAtMs = 0 } = first.event.value;
    const same = watch({ fromSeq: seq, fromAtMs: seqAtMs, durableOnly: true });
    const other = watch({ fromSeq: seq, fromAtMs: seqAtMs - 60_000, durableOnly: true });
    await other.until(() => other.events.length === 2, "notice and snapshot");
    expect(other.events[0]?.event).toMatchObject({ value: { code: "position_unknown" } });
    expect(other.kinds[1]).toBe("snapshot");
    await say(1);
    await fixture.publish(told.sessionId, seq);
    await reached(same, seq + 1);
    await reached(other, seq + 1);
    expect(same.kinds).toEqual(["finalSegment"]);
  });

  it("the end of a session: told once to early and late, and the stream goes on", async () => {
    await begin();
    await say(1);
    const early = watch({ fromSeq: 0, durableOnly: true });
    await reached(early, 1);
    await told.story.tell([
      { type: "SessionStopped", lastSequence: -1 },
      { type: "SessionCompleted" },
    ]);
    await fixture.publish(told.sessionId, 1);
    const isTold = (each: TranscriptWatch) => each.kinds.includes("sessionEnded");
    await early.until(() => isTold(early), "the end, for the early one");
    const late = watch({ fromSeq: 3, durableOnly: true });
    const fresh = watch();
    await late.until(() => isTold(late), "the end, for the late one");
    await fresh.until(() => isTold(fresh), "the end, for the one with a snapshot");
    await say(1);
    await fixture.publish(told.sessionId, 3);
    for (const each of [early, late, fresh]) await reached(each, 4);
    expect(early.kinds).toEqual([
      "finalSegment",
      "sessionStatus",
      "sessionStatus",
      "sessionEnded",
      "finalSegment",
    ]);
    expect(late.kinds).toEqual(["sessionEnded", "finalSegment"]);
    expect(fresh.kinds).toEqual(["snapshot", "sessionEnded", "finalSegment"]);
    expect(late.events[0]).toMatchObject({
      sessionId: told.sessionId,
      event: { $case: "sessionEnded", value: { status: "completed", seq: 3 } },
    });
    expect(late.events[0]?.seq).toBeUndefined();
  });

  it("interim results reach those who want them", async () => {
    await begin();
    await say(1);
    const all = watch({ fromSeq: 0 });
    const durable = watch({ fromSeq: 0, durableOnly: true });
    await reached(all, 1);
    await reached(durable, 1);
    const { sessionId } = told;
    const interim: ServerFrame = {
      type: "Results",
      session_id: sessionId,
      segment_id: newId(),
      revision: 2,
      is_final: false,
      start: 5.01,
      duration: 0.5,
      transcript: "hel",
      confidence: 0.5,
      speaker: "UU",
      words: [],
      stable_words: 0,
    };
    // What is of the moment goes by those who are still catching up.
    const heard = () => {
      fixture.send(sessionId, [interim]);
      return all.kinds.includes("interimSegment");
    };
    await until(heard, "an interim result");
    const begun: ServerFrame = { type: "SpeechStarted", session_id: sessionId, start: 5.01 };
    fixture.send(sessionId, [begun]);
    await say(1);
    await fixture.publish(sessionId, 1);
    await reached(all, 2);
    await reached(durable, 2);
    expect(new Set(all.kinds)).toEqual(
      new Set(["finalSegment", "interimSegment", "speechStartedMs"]),
    );
    expect(all.seqs).toEqual([1, 2]);
    expect(all.events[1]?.event).toMatchObject({ value: { startMs: 5_010, endMs: 5_510 } });
    expect(all.events).toContainEqual(
      expect.objectContaining({ event: { $case: "speechStartedMs", value: 5_010 } }),
    );
    expect(durable.kinds).toEqual(["finalSegment", "finalSegment"]);
  });

  it("refusals: no key, a foreign key, no scope, an unknown session", async () => {
    await begin();
    const other = await fixture.query.fixture.user();
    const elsewhere = await fixture.query.fixture.workspace(other.id);
    const foreign = await fixture.key(other, elsewhere);
    const asker = await fixture.key(owner, workspaceId, ["query"]);
    expect(await watch({}, "").end()).toMatchObject({ status: status.UNAUTHENTICATED });
    expect(await watch({}, foreign.secret).end()).toMatchObject({ status: status.NOT_FOUND });
    expect(await watch({}, asker.secret).end()).toMatchObject({
      status: status.PERMISSION_DENIED,
      code: "forbidden",
    });
    const unknown = watch({ sessionId: newId(), fromSeq: 0 });
    expect(await unknown.end()).toMatchObject({ status: status.NOT_FOUND, code: "not_found" });
  });

  it("a revoked key and a deleted session end the watch", async () => {
    await begin();
    await say(1);
    const { secret, record } = await fixture.key(owner, workspaceId, ["sessions:read"]);
    const doomed = watch({ fromSeq: 0 }, secret);
    const other = watch({ fromSeq: 0 });
    await reached(doomed, 1);
    await reached(other, 1);
    await fixture.keys.revoke(owner, record);
    expect(await doomed.end()).toMatchObject({ status: status.UNAUTHENTICATED });
    expect(other.failure).toBeUndefined();
    const keyless = await fixture.key(owner, workspaceId, ["sessions:read"]);
    const unheard = watch({ fromSeq: 0 }, keyless.secret);
    await reached(unheard, 1);
    // Nobody tells of it but the record.
    await fixture.query.fixture.sql("update service_keys set revoked_at = now() where id = $1", [
      keyless.record.id,
    ]);
    expect(await unheard.end()).toMatchObject({ status: status.UNAUTHENTICATED });
    expect(other.failure).toBeUndefined();
    await fixture.query.fixture.sql("update sessions set status = 'deleted' where id = $1", [
      told.sessionId,
    ]);
    expect(await other.end()).toMatchObject({ status: status.NOT_FOUND });
  });

  it("the deadline of the client ends it; so does its limit of watches", async () => {
    await begin();
    await say(1);
    const short = watch({ fromSeq: 0 }, key, { deadline: Date.now() + 1_500 });
    const rest = [1, 2, 3].map(() => watch({ fromSeq: 0 }));
    for (const each of rest) await reached(each, 1);
    expect(await short.end()).toMatchObject({ status: status.DEADLINE_EXCEEDED });
    await until(() => fixture.service.figures.watches === 3, "the short one to be forgotten");
    await reached(watch({ fromSeq: 0 }), 1);
    expect(await watch({ fromSeq: 0 }).end()).toMatchObject({
      status: status.RESOURCE_EXHAUSTED,
      code: "rate_limited",
    });
  });

  it("nobody watches: the feed is let go", async () => {
    await begin();
    await say(1);
    const each = watch({ fromSeq: 0 });
    await reached(each, 1);
    expect(fixture.followers(told.sessionId)).toBe(1);
    each.cancel();
    await until(() => fixture.followers(told.sessionId) === 0, "the feed to close");
  });
});

describe("gRPC: a watcher that cannot keep up, and the stop", () => {
  let fixture: GrpcFixture;
  let told: Told;
  let key: string;

  beforeAll(async () => {
    const limits = { waitingBytes: 64 * 1024, inFlightBytes: 16 * 1024, drainTimeoutMs: 3_000 };
    fixture = await GrpcFixture.open({ limits });
    const owner = await fixture.query.fixture.user();
    const workspaceId = await fixture.query.fixture.workspace(owner.id);
    key = (await fixture.key(owner, workspaceId)).secret;
    told = await fixture.query.tell(workspaceId, owner, []);
    const text = Array.from({ length: 700 }, (_, index) => `word${index}`).join(" ");
    for (let n = 0; n < 60; n += 1) await told.story.say("S1", n * 8_000_000, text);
  });
  afterAll(() => fixture.close());

  it("is ended with RESOURCE_EXHAUSTED, slows nobody, and goes on where it stopped", async () => {
    const { sessionId } = told;
    const slow = new TranscriptWatch(fixture.client(), key, { sessionId, fromSeq: 0 });
    slow.stream.pause();
    const quick = new TranscriptWatch(fixture.client(), key, { sessionId, fromSeq: 0 });
    await quick.until(() => quick.lastSeq === 60, "all events");
    expect(quick.seqs).toEqual(upTo(60));
    const givenUp = () => fixture.service.figures.watchesTooSlow === 1;
    await until(givenUp, "the slow one to be given up", 60_000);
    expect(fixture.service.queues).toContainEqual(
      expect.objectContaining({ queue: "rpc_watch_bytes", limit: 64 * 1024, refused: 1 }),
    );
    slow.stream.resume();
    expect(await slow.end()).toMatchObject({
      status: status.RESOURCE_EXHAUSTED,
      code: "slow_down",
      details: expect.stringMatching(/from_seq = the seq of the last event that arrived/),
    });
    expect(slow.seqs).toEqual(upTo(slow.lastSeq));
    expect(slow.lastSeq).toBeLessThan(60);
    const again = { sessionId, fromSeq: slow.lastSeq };
    const back = new TranscriptWatch(fixture.client(), key, again);
    await back.until(() => back.lastSeq === 60, "the rest");
    expect([...slow.seqs, ...back.seqs]).toEqual(upTo(60));
    quick.cancel();
    back.cancel();
  });

  it("stop: open watches are sent elsewhere, new calls find nobody", async () => {
    const { sessionId } = told;
    const client = fixture.client();
    const each = new TranscriptWatch(client, key, { sessionId, fromSeq: 59 });
    await each.until(() => each.lastSeq === 60, "it to be live");
    await fixture.server.stop();
    expect(await each.end()).toMatchObject({
      status: status.UNAVAILABLE,
      code: "unavailable",
      details: expect.stringMatching(/reconnect/),
    });
    const late = new TranscriptWatch(client, key, { sessionId, fromSeq: 0 });
    expect(await late.end()).toMatchObject({ status: status.UNAVAILABLE });
  });
});
