import { afterAll, beforeEach, describe, expect, it } from "vitest";
import type { UserPrincipal } from "../../src/access/principal.ts";
import { newId } from "../../src/base/ids.ts";
import { LiveLog } from "../../src/live/replay-store.ts";
import { encodeCursor } from "../../src/rest/page.ts";
import type { SpeakersRevised } from "../../src/session/event.ts";
import { callRoute, jsonBody, textBody } from "../support/route-call.ts";
import { SessionFixture } from "../support/session-fixture.ts";
import { SessionStory } from "../support/session-story.ts";

const SECOND = 16_000;

describe("speaker confidence", () => {
  let fixture: SessionFixture | undefined;
  let story: SessionStory;
  let owner: UserPrincipal;
  let sessionId: string;
  let ids: string[];

  beforeEach(async () => {
    fixture ??= await SessionFixture.open();
    const own = await fixture.ownDevice();
    owner = own.owner;
    sessionId = await fixture.start(own.device, { title: "T" });
    story = await SessionStory.open(fixture, sessionId);
    await story.tell([{ type: "SessionStarted", sessionId, jobId: newId(), language: "en" }]);
    const spoken = [
      ["S1", 0.9],
      ["S2", 0.4],
      ["S3", 0.55],
      ["S1", undefined],
    ] as const;
    ids = [];
    for (const [n, [label, sure]] of spoken.entries()) {
      ids.push(await story.say(label, n * SECOND, `word${n}`, sure));
    }
  });
  afterAll(() => fixture?.close());

  async function get(id: string): Promise<Record<string, unknown>> {
    const params = { session_id: sessionId };
    const call = { principal: owner, params };
    return jsonBody(await callRoute(opened().routes, id, call));
  }

  function opened(): SessionFixture {
    if (fixture === undefined) throw new Error("the fixture is not open");
    return fixture;
  }

  type Told = { speaker_confidence?: number | null };

  async function listed(): Promise<(number | null | undefined)[]> {
    const { items } = (await get("listSegments")) as { items: Told[] };
    const { segments } = (await get("getTranscript")) as { segments: Told[] };
    const inList = items.map(({ speaker_confidence: sure }) => sure);
    expect(segments.map(({ speaker_confidence: sure }) => sure)).toEqual(inList);
    const snapshot = await log().snapshot(sessionId);
    expect(snapshot.segments.map(({ speaker_confidence: sure }) => sure)).toEqual(inList);
    return inList;
  }

  function log(): LiveLog {
    return new LiveLog(opened().pool, {
      segmentCursor: (id, { start }) => encodeCursor(new Uint8Array(32), id, [String(start)]),
    });
  }

  function revised(more: Partial<SpeakersRevised>): SpeakersRevised {
    return { type: "SpeakersRevised", revisions: [], merges: [], finalPass: false, ...more };
  }

  it("speaker confidence: the same in lists, transcripts and snapshots, and marked for people", async () => {
    expect(await listed()).toEqual([0.9, 0.4, 0.55, null]);
    const reply = await callRoute(opened().routes, "getTranscript", {
      principal: owner,
      params: { session_id: sessionId },
      query: { format: "txt" },
    });
    expect(textBody(reply).slice(textBody(reply).indexOf("[00:00]"))).toBe(
      "[00:00] Speaker 1: Word0.\n[00:01] Speaker 2?: Word1.\n[00:02] Speaker 3?: Word2.\n[00:03] Speaker 1: Word3.\n\nA name with a question mark is a guess: it is not sure who speaks.\n",
    );
  });

  it("speaker confidence: a revision ends it for what it names, replays keep that of the time", async () => {
    const revisions = [{ segmentId: ids[1] ?? "", start: SECOND, label: "S1", cluster: 0 }];
    await story.tell([revised({ revisions })]);
    expect(await listed()).toEqual([0.9, null, 0.55, null]);
    const frames = (await log().replay(sessionId, 0, 20)).filter(({ type }) => type === "Results");
    expect(frames).toMatchObject(
      [0.9, 0.4, 0.55, null].map((sure) => ({ speaker_confidence: sure })),
    );
  });

  it("speaker confidence: a merge ends it for both voices, and for nobody else", async () => {
    await story.tell([revised({ merges: [{ from: "S3", into: "S1" }] })]);
    expect(await listed()).toEqual([null, 0.4, null, null]);
  });

  it("speaker confidence: a person's change of the speaker ends it; of the words, and claims, do not", async () => {
    const edit = { type: "SegmentRevised", byUserId: owner.id } as const;
    const [first = "", second = ""] = ids;
    await story.tell([
      { ...edit, segmentId: first, start: 0, revision: 2, label: "S1" },
      { ...edit, segmentId: second, start: SECOND, revision: 2, label: "S3" },
      {
        type: "SpeakerClaimed",
        label: "S3",
        source: "self_claim",
        claimedUserId: owner.id,
        byUserId: owner.id,
      },
    ]);
    expect(await listed()).toEqual([0.9, null, 0.55, null]);
  });
});
