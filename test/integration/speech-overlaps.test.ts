import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { UserPrincipal } from "../../src/access/principal.ts";
import { newId } from "../../src/base/ids.ts";
import { SegmentStore } from "../../src/conversations/transcript/segments-store.ts";
import { toSegmentMessage } from "../../src/grpc/messages.ts";
import { LiveLog } from "../../src/live/replay-store.ts";
import { encodeCursor } from "../../src/rest/page.ts";
import { callRoute, jsonBody, textBody } from "../support/route-call.ts";
import { SessionFixture } from "../support/session-fixture.ts";
import { SessionStory } from "../support/session-story.ts";

const SECOND = 16_000;

describe("speech overlaps", () => {
  let fixture: SessionFixture;
  let story: SessionStory;
  let owner: UserPrincipal;
  let sessionId: string;
  let first: string;
  let second: string;

  beforeAll(async () => {
    fixture = await SessionFixture.open();
    const own = await fixture.ownDevice();
    owner = own.owner;
    sessionId = await fixture.start(own.device, { title: "T" });
    story = await SessionStory.open(fixture, sessionId);
    first = story.segmentId(0);
    second = story.segmentId(SECOND);
    const segments = [
      {
        ...story.spoken("S1", 0, "one two three four"),
        overlaps: [{ segmentId: second, start: SECOND / 2, end: SECOND }],
      },
      { ...story.spoken("S2", SECOND, "five"), overlaps: [] },
    ];
    const finals = segments.map(({ segmentId, start, end, label }) => {
      const place = { segmentId, start, end, label, cluster: 0, checkpoint: 0 };
      return { type: "SegmentFinalised", ...place } as const;
    });
    const begun = { type: "SessionStarted", sessionId, jobId: newId(), language: "en" } as const;
    await story.tell([begun, ...finals], segments);
  });
  afterAll(() => fixture?.close());

  async function get(id: string, query = {}): Promise<Record<string, unknown>> {
    const call = { principal: owner, params: { session_id: sessionId }, query };
    return jsonBody(await callRoute(fixture.routes, id, call));
  }

  async function exported(format: string): Promise<string> {
    const call = { principal: owner, params: { session_id: sessionId }, query: { format } };
    return textBody(await callRoute(fixture.routes, "getTranscript", call));
  }

  function log(): LiveLog {
    return new LiveLog(fixture.pool, {
      segmentCursor: (id, { start }) => encodeCursor(new Uint8Array(32), id, [String(start)]),
    });
  }

  it("overlaps: are told alike by lists, transcripts, snapshots, replays and over gRPC", async () => {
    const overlap = { speaker_label: "S2", segment_id: second, start_ms: 500, end_ms: 1_000 };
    const { items } = await get("listSegments");
    const { segments } = await get("getTranscript");
    for (const told of [items, segments]) {
      expect(told).toMatchObject([{ also_speaking: ["S2"], overlaps: [overlap] }, {}]);
      expect((told as object[])[1]).not.toHaveProperty("also_speaking");
    }
    const live = { speaker: "S2", segment_id: second, start: 0.5, end: 1 };
    const snapshot = await log().snapshot(sessionId);
    const replayed = (await log().replay(sessionId, 0, 9)).filter(({ type }) => type === "Results");
    for (const told of [snapshot.segments, replayed]) {
      expect(told).toMatchObject([{ also_speaking: ["S2"], overlaps: [live] }, {}]);
      expect(told[1]).not.toHaveProperty("also_speaking");
    }
    const { page: stored } = await new SegmentStore(fixture.pool).page(sessionId, {
      after: undefined,
      limit: 9,
    });
    expect(stored.map((each) => toSegmentMessage(each, false).overlaps)).toEqual([
      [{ startMs: 500, endMs: 1_000, speakerLabel: "S2", segmentId: second }],
      [],
    ]);
  });

  it("overlaps: count as speech of who speaks, have lines in RTTM and cues without words in WebVTT", async () => {
    const { items } = await get("listSpeakers");
    expect(items).toMatchObject([
      { speaker_label: "S1", segment_count: 1, speaking_ms: 1_000 },
      { speaker_label: "S2", segment_count: 1, speaking_ms: 750 },
    ]);
    expect((await exported("rttm")).split("\n")).toEqual([
      `SPEAKER ${sessionId} 1 0.000 1.000 <NA> <NA> S1 <NA> <NA>`,
      `SPEAKER ${sessionId} 1 0.500 0.500 <NA> <NA> S2 <NA> <NA>`,
      `SPEAKER ${sessionId} 1 1.000 0.250 <NA> <NA> S2 <NA> <NA>`,
      "",
    ]);
    expect(await exported("vtt")).toContain("00:00:00.500 --> 00:00:01.000\n<v Speaker 2></v>\n");
  });

  it("overlaps: follow the speaker of their words, and are none where that is the segment's own", async () => {
    const labelled = async () => {
      const { items } = await get("listSegments");
      return (items as { also_speaking?: string[] }[]).map((item) => item.also_speaking);
    };
    const relabel = async (label: string) => {
      const revisions = [{ segmentId: second, start: SECOND, label, cluster: 1 }];
      const revised = { revisions, merges: [], finalPass: false };
      await story.tell([{ type: "SpeakersRevised", ...revised }]);
    };
    await relabel("S3");
    expect(await labelled()).toEqual([["S3"], undefined]);
    await relabel("S1");
    expect(await labelled()).toEqual([undefined, undefined]);
    expect(await get("listSpeakers")).toMatchObject({ items: [{ speaking_ms: 1_250 }] });
    await relabel("UU");
    expect(await labelled()).toEqual([undefined, undefined]);
    expect(first).not.toBe(second);
  });
});
