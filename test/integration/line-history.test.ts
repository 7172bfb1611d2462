import { afterAll, beforeEach, describe, expect, it } from "vitest";
import type { UserPrincipal } from "../../src/access/principal.ts";
import { newId } from "../../src/base/ids.ts";
import { PostgresSegmentEdits } from "../../src/conversations/transcript/segments-store.ts";
import { callRoute, codeOf, jsonBody } from "../support/route-call.ts";
import { SessionFixture } from "../support/session-fixture.ts";
import { SessionStory } from "../support/session-story.ts";

describe("the history of a line", () => {
  let fixture: SessionFixture;
  let story: SessionStory;
  let owner: UserPrincipal;
  let sessionId: string;
  let segmentId: string;

  beforeEach(async () => {
    fixture ??= await SessionFixture.open();
    const own = await fixture.ownDevice();
    owner = own.owner;
    sessionId = await fixture.start(own.device, { title: "T" });
    story = await SessionStory.open(fixture, sessionId);
    await story.tell([{ type: "SessionStarted", sessionId, jobId: newId(), language: "en" }]);
    segmentId = await story.say("S1", 0, "we meet in york");
  });
  afterAll(() => fixture?.close());

  const call = (query: Record<string, unknown> = {}, id = segmentId, principal = owner) => {
    const params = { session_id: sessionId, segment_id: id };
    return callRoute(fixture.routes, "listSegmentChanges", { principal, params, query });
  };

  async function edit(text: string, revision: number, label = "S1"): Promise<void> {
    const editId = newId();
    const byUserId = owner.id;
    await new PostgresSegmentEdits(fixture.pool).put({
      ...{ id: editId, sessionId, segmentId, text, byUserId },
    });
    const change = { type: "SegmentRevised", segmentId, start: 0, revision } as const;
    await story.tell([{ ...change, label, editId, byUserId }]);
  }

  async function history(query: Record<string, unknown> = {}): Promise<Record<string, unknown>[]> {
    return jsonBody(await call(query)).items as Record<string, unknown>[];
  }

  it("tells who changed words and speaker, when, and how it read, newest first", async () => {
    expect(await history()).toEqual([]);
    await edit("We meet in York.", 2);
    await edit("We meet in New York.", 3, "S2");
    const moved = { segmentId, start: 0 };
    await story.tell([
      {
        type: "SegmentsReassigned",
        from: "S2",
        label: "S3",
        segments: [moved],
        byUserId: owner.id,
      },
    ]);
    const found = await history();
    expect(found).toMatchObject([
      { speaker_before: "S2", speaker_after: "S3", by_user_id: owner.id },
      {
        speaker_before: "S1",
        speaker_after: "S2",
        text_before: "We meet in York.",
        text_after: "We meet in New York.",
      },
      { text_before: "we meet in york", text_after: "We meet in York." },
    ]);
    expect(found[0]).not.toHaveProperty("text_before");
    expect(
      found
        .map(({ at }) => String(at))
        .toSorted()
        .toReversed(),
    ).toEqual(found.map(({ at }) => at));
    const first = jsonBody(await call({ limit: 2 }));
    expect(first.items).toHaveLength(2);
    const rest = await history({ limit: 2, cursor: first.next_cursor });
    expect(rest).toMatchObject([{ text_before: "we meet in york" }]);
  });

  it("is read by those who may edit the session, of segments that there are", async () => {
    const { owner: stranger } = await fixture.ownDevice();
    expect(await codeOf(call({}, segmentId, stranger))).toBe("forbidden");
    expect(await codeOf(call({}, newId()))).toBe("not_found");
    expect(await codeOf(call({}, "none"))).toBe("not_found");
  });

  it("loses its words with a redaction, and goes with a reading that replaces the line", async () => {
    await edit("a secret", 2);
    await story.tell([
      {
        type: "SpanRedacted",
        redactionId: newId(),
        from: 0,
        to: 16_000,
        segmentIds: [segmentId],
        byUserId: owner.id,
      },
    ]);
    const [change] = await history();
    expect(change).toMatchObject({ by_user_id: owner.id });
    expect(change).not.toHaveProperty("text_after");
    expect(change).not.toHaveProperty("text_before");
    await story.tell([
      {
        type: "TranscriptReplaced",
        jobId: newId(),
        attempt: 2,
        from: 0,
        to: 16_000,
        removed: [{ segmentId, start: 0 }],
        added: [],
        sequences: [],
      },
    ]);
    expect(
      await fixture.sql("select from segment_changes where segment_id = $1", [segmentId]),
    ).toEqual([]);
  });
});
