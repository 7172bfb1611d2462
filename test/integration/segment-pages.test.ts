import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { UserPrincipal } from "../../src/access/principal.ts";
import { newId } from "../../src/base/ids.ts";
import { spreadWords } from "../../src/conversations/transcript/segments-store.ts";
import { callRoute, codeOf, jsonBody } from "../support/route-call.ts";
import { SessionFixture } from "../support/session-fixture.ts";
import { SessionStory } from "../support/session-story.ts";

const SECOND = 16_000;
const SEGMENTS = 8;
/** The longest text that a person may give a segment. */
const LONG = "a ".repeat(5_000).trim();

describe("long texts", () => {
  let fixture: SessionFixture;
  let owner: UserPrincipal;
  let sessionId: string;

  beforeAll(async () => {
    fixture = await SessionFixture.open();
    const own = await fixture.ownDevice();
    owner = own.owner;
    sessionId = await fixture.start(own.device, { title: "T" });
    const story = await SessionStory.open(fixture, sessionId);
    const segments = Array.from({ length: SEGMENTS }, (_, n) => {
      return story.spoken("S1", n * SECOND, "one two");
    });
    const finals = segments.map(({ segmentId, start, end, label }) => {
      const place = { segmentId, start, end, label, cluster: 0, checkpoint: 0 };
      return { type: "SegmentFinalised", ...place } as const;
    });
    const begun = { type: "SessionStarted", sessionId, jobId: newId(), language: "en" } as const;
    await story.tell([begun, ...finals], segments);
  });
  afterAll(() => fixture?.close());

  const call = (id: string, query = {}) =>
    callRoute(fixture.routes, id, { principal: owner, params: { session_id: sessionId }, query });

  async function pages(limit: number): Promise<number[]> {
    const counts: number[] = [];
    const starts: number[] = [];
    for (let cursor: unknown; ; ) {
      const query = { limit, words: true, ...(cursor === undefined ? {} : { cursor }) };
      const { items, next_cursor } = jsonBody(await call("listSegments", query));
      const found = items as { start_ms: number }[];
      counts.push(found.length);
      starts.push(...found.map(({ start_ms }) => start_ms));
      if (next_cursor === null) break;
      cursor = next_cursor;
    }
    expect(starts).toEqual(Array.from({ length: SEGMENTS }, (_, n) => n * 1_000));
    return counts;
  }

  async function give(text: string): Promise<void> {
    const words = JSON.stringify(spreadWords(text, { start: 0, end: SECOND, confidence: 1 }));
    await fixture.sql(
      "update segments set text = $2, words = $3::jsonb, revision = 2 where session_id = $1",
      [sessionId, text, words],
    );
  }

  it("long texts: a part of the timeline is what ends after its start and begins before its end", async () => {
    const starts = async (query: object) => {
      const { items, next_cursor } = jsonBody(await call("listSegments", query));
      const found = (items as { start_ms: number }[]).map(({ start_ms }) => start_ms);
      return { found, next_cursor };
    };
    const all = await starts({ limit: 100 });
    const ends = jsonBody(await call("listSegments", { limit: 100 })).items as { end_ms: number }[];
    const second = ends[1]?.end_ms ?? 0;
    expect((await starts({ from_ms: second - 1 })).found).toEqual(all.found.slice(1));
    expect((await starts({ from_ms: second })).found).toEqual(all.found.slice(2));
    expect((await starts({ to_ms: 2_000 })).found).toEqual([0, 1_000]);
    expect((await starts({ to_ms: 2_001 })).found).toEqual([0, 1_000, 2_000]);
    const part = { from_ms: 1_400, to_ms: 5_000 };
    const first = await starts({ ...part, limit: 2 });
    expect(first.found).toEqual([1_000, 2_000]);
    const cursor = first.next_cursor;
    expect((await starts({ ...part, limit: 10, cursor })).found).toEqual([3_000, 4_000]);
    expect(await codeOf(call("listSegments", { limit: 10, cursor }))).toBe("invalid_parameter");
  });

  it("long texts: a page has as many segments as were asked for, and ends earlier where they are long", async () => {
    expect(await pages(4)).toEqual([4, 4]);
    expect(await pages(5)).toEqual([5, 3]);
    expect(await pages(200)).toEqual([8]);
    await give(LONG);
    expect(await pages(200)).toEqual([6, 2]);
    expect(await pages(1)).toEqual(Array.from({ length: SEGMENTS }, () => 1));
  });

  it("long texts: an edit that makes the session's text too long is refused", async () => {
    await give("a".repeat(142_000));
    const [segment] = jsonBody(await call("listSegments", { limit: 1 })).items as { id: string }[];
    const edit = (letters: number) =>
      codeOf(
        callRoute(fixture.routes, "editSegment", {
          principal: owner,
          params: { session_id: sessionId, segment_id: segment?.id ?? "" },
          body: { text: "b".repeat(letters) },
        }),
      );
    expect(await edit(6_001)).toBe("payload_too_large");
    expect(await edit(6_000)).toBe("none");
  });

  it("long texts: what is too long to be given as a whole is given in pages alone", async () => {
    await give("a".repeat(600_000));
    expect(await codeOf(call("getTranscript"))).toBe("payload_too_large");
    expect(await pages(200)).toEqual(Array.from({ length: SEGMENTS }, () => 1));
    await give("short");
    expect(jsonBody(await call("getTranscript")).segments).toHaveLength(SEGMENTS);
  });
});
