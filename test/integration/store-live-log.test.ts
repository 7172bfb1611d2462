import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { UserPrincipal } from "../../src/access/principal.ts";
import { systemClock } from "../../src/base/clock.ts";
import { newId } from "../../src/base/ids.ts";
import { SpeakerNameStore } from "../../src/conversations/transcript/speaker-names-store.ts";
import { LiveLog, RecordedHeartbeat } from "../../src/live/replay-store.ts";
import { encodeCursor } from "../../src/rest/page.ts";
import type { FinalResultsFrame } from "../../src/wire/live-frames.ts";
import { codeOf } from "../support/route-call.ts";
import { SessionFixture } from "../support/session-fixture.ts";
import { SessionStory } from "../support/session-story.ts";

describe("live log", () => {
  let fixture: SessionFixture;
  let log: LiveLog;
  let owner: UserPrincipal;
  let story: SessionStory;
  let sessionId: string;

  beforeAll(async () => {
    fixture = await SessionFixture.open();
    log = new LiveLog(fixture.pool, {
      segmentCursor: (id, { start }) => encodeCursor(new Uint8Array(32), id, [String(start)]),
    });
  });
  afterAll(() => fixture.close());

  async function begin(): Promise<void> {
    const own = await fixture.ownDevice();
    owner = own.owner;
    sessionId = await fixture.start(own.device, { title: "T" });
    story = await SessionStory.open(fixture, sessionId);
    await story.tell([{ type: "SessionStarted", sessionId, jobId: newId(), language: "en" }]);
  }

  it("live log: replays every durable frame once, in order, in pages", async () => {
    await begin();
    await story.say("S1", 0, "hello there");
    const claim = { label: "S1", source: "self_claim", claimedUserId: owner.id } as const;
    await story.tell([{ type: "SpeakerClaimed", ...claim, byUserId: owner.id }]);
    await story.tell([{ type: "SessionStopped", lastSequence: -1 }]);
    const all = await log.replay(sessionId, 0, 100);
    expect(all.map(({ seq, type }) => [seq, type])).toEqual([
      [1, "SessionStatus"],
      [2, "Results"],
      [3, "SpeakerClaimed"],
      [4, "SessionStatus"],
    ]);
    expect(all[1]).toMatchObject({ transcript: "hello there", speaker: "S1", is_final: true });
    expect(all[2]).toMatchObject({ display_name: "Olga Owner", revoked: false });
    const pages = [await log.replay(sessionId, 0, 3), await log.replay(sessionId, 3, 3)];
    expect(pages.flat()).toEqual(all);
    expect(await log.replay(sessionId, 4, 10)).toEqual([]);
  });

  it("live log: tells which words of a final are unclear, and of a snapshot where they stand", async () => {
    await begin();
    await story.say("S1", 0, "we fly to [tunisia and?] back");
    await story.say("S1", 80_000, "all is well");
    const [, unclear, clear] = await log.replay(sessionId, 0, 10);
    expect(unclear).toMatchObject({ transcript: "we fly to tunisia and back" });
    const marks = (frame: unknown) =>
      (frame as FinalResultsFrame).words.map((word) => word.unclear);
    expect(marks(unclear)).toEqual([undefined, undefined, undefined, true, true, undefined]);
    expect(marks(clear)).toEqual([undefined, undefined, undefined]);
    const { segments } = await log.snapshot(sessionId);
    expect(segments[0]).toMatchObject({
      transcript: "we fly to tunisia and back",
      unclear_words: [3, 4],
    });
    expect(segments[1]).not.toHaveProperty("unclear_words");
  });

  it("live log: replaced segments keep their seq as stubs", async () => {
    await begin();
    const removed = await story.say("S1", 0, "wrong words");
    const added = story.spoken("S1", 0, "right words", 2);
    const { segmentId, end } = added;
    await story.tell(
      [
        {
          type: "TranscriptReplaced",
          jobId: newId(),
          attempt: 2,
          from: 0,
          to: 16_000,
          removed: [{ segmentId: removed, start: 0 }],
          added: [{ segmentId, start: 0, end, label: "S1", cluster: 0 }],
          sequences: [],
        },
      ],
      [added],
    );
    const frames = await log.replay(sessionId, 0, 10);
    expect(frames.map(({ type }) => type)).toEqual(["SessionStatus", "Stub", "TranscriptReplaced"]);
    expect(frames[2]).toMatchObject({
      removed_segment_ids: [removed],
      segment_ids: [segmentId],
      span: { start: 0, end: 1 },
    });
    expect(JSON.stringify(frames)).not.toContain("wrong");
    expect((await log.snapshot(sessionId)).segments).toMatchObject([{ transcript: "right words" }]);
  });

  it("live log: a free name is told of while it stands, replaced ones keep their seq as stubs", async () => {
    await begin();
    await story.say("S1", 0, "hello there");
    const names = new SpeakerNameStore(fixture.pool);
    const ids = [newId(), newId()];
    for (const id of ids) {
      const displayName = id === ids[0] ? "The boss" : "The chair";
      expect(await names.put({ id, sessionId, displayName, byUserId: owner.id })).toBe(true);
    }
    for (const nameId of ids) {
      await story.tell([{ type: "SpeakerNamed", label: "S1", nameId, byUserId: owner.id }]);
    }
    const frames = (await log.replay(sessionId, 2, 10)).map(({ seq, at, ...frame }) => frame);
    expect(frames).toEqual([
      { type: "Stub", session_id: sessionId },
      { type: "SpeakerNamed", session_id: sessionId, speaker_label: "S1", free_name: "The chair" },
    ]);
    const { speakers } = await log.snapshot(sessionId);
    expect(speakers).toMatchObject([{ display_name: "The chair", free_name: "The chair" }]);
    await story.tell([{ type: "SpeakerNamed", label: "S1", byUserId: owner.id }]);
    expect((await log.snapshot(sessionId)).speakers[0]).not.toHaveProperty(
      "free_name",
      "The chair",
    );
  });

  it("live log: a snapshot agrees with its seq while the session goes on", async () => {
    await begin();
    let done = false;
    const talk = (async () => {
      for (let n = 0; n < 40; n += 1) await story.say("S1", n * 16_000, `word${n}`);
      done = true;
    })();
    while (!done) {
      const { seq, segments } = await log.snapshot(sessionId);
      // SessionStarted is 1, every segment is one event.
      expect(segments).toHaveLength(seq - 1);
    }
    await talk;
    const last = await log.snapshot(sessionId);
    expect(last).toMatchObject({ type: "Snapshot", seq: 41, session: { title: "T" } });
    expect(last.speakers).toEqual([{ speaker_label: "S1" }]);
    expect(last).not.toHaveProperty("segments_cursor");
  });

  it("live log: a long session's snapshot leads to the rest", async () => {
    await begin();
    const texts = Array.from({ length: 501 }, (_, n) => story.spoken("S1", n * 16_000, "w"));
    await story.tell(
      texts.map(({ segmentId, start, end, label }) => ({
        type: "SegmentFinalised",
        segmentId,
        start,
        end,
        label,
        cluster: 0,
        checkpoint: 0,
      })),
      texts,
    );
    const snapshot = await log.snapshot(sessionId);
    expect(snapshot.segments).toHaveLength(500);
    expect(snapshot.segments_cursor).toEqual(expect.any(String));
  });

  it("live log: unknown and deleted sessions have no snapshot", async () => {
    await begin();
    expect(await codeOf(log.snapshot(newId()))).toBe("not_found");
    await fixture.sql("update sessions set status = 'deleted' where id = $1", [sessionId]);
    expect(await codeOf(log.snapshot(sessionId))).toBe("not_found");
  });

  it("live log: in the actor's place the record tells how the session stands", async () => {
    await begin();
    const beats = new RecordedHeartbeat(fixture.pool, systemClock);
    expect((await beats.read(sessionId)).frame).toEqual({
      ...{ type: "Heartbeat", session_id: sessionId, seq: 1 },
      ...{ audio_received: 0, audio_finalised: 0, lag_ms: 0, gaps: 0 },
    });
    await story.say("S1", 0, "hello there");
    await fixture.sql(
      "update devices set last_seen_at = now(), telemetry = $2 where id = (select device_id from sessions where id = $1)",
      [sessionId, { battery_percent: 71 }],
    );
    expect((await beats.read(sessionId)).frame).toMatchObject({
      seq: 2,
      device: { presence: "online", battery_percent: 71, last_seen_at: expect.any(String) },
    });
    await fixture.sql("update sessions set status = 'completed' where id = $1", [sessionId]);
    const over = await beats.read(sessionId);
    expect(over.isOver).toBe(true);
    expect(over.frame).not.toHaveProperty("device");
    await fixture.sql("update sessions set status = 'deleted' where id = $1", [sessionId]);
    expect(await codeOf(beats.read(sessionId))).toBe("not_found");
    expect(await codeOf(beats.read(newId()))).toBe("not_found");
  });
});
