import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import type { UserPrincipal } from "../../src/access/principal.ts";
import { newId } from "../../src/base/ids.ts";
import { SessionFixture } from "../support/session-fixture.ts";
import { SessionStory } from "../support/session-story.ts";

type Override = { actor_id: string; subject_id: string; detail: Record<string, unknown> };

describe("claim overrides", () => {
  let fixture: SessionFixture;
  let owner: UserPrincipal;
  let claimant: UserPrincipal;
  let story: SessionStory;
  let sessionId: string;

  beforeAll(async () => {
    fixture = await SessionFixture.open();
  });
  afterAll(() => fixture.close());

  beforeEach(async () => {
    const own = await fixture.ownDevice();
    owner = own.owner;
    claimant = await fixture.user("participant", "Clara Claimant");
    sessionId = await fixture.start(own.device);
    story = await SessionStory.open(fixture, sessionId);
    await story.tell([{ type: "SessionStarted", sessionId, jobId: newId(), language: "en" }]);
    await story.say("S1", 0, "hello there");
  });

  function claim(claimedUserId: string, byUserId = claimedUserId) {
    const source = claimedUserId === byUserId ? "self_claim" : "moderator_assignment";
    return story.tell([{ type: "SpeakerClaimed", label: "S1", source, claimedUserId, byUserId }]);
  }

  function overrides() {
    return fixture.sql<Override>(
      `select actor_id, subject_id, detail from audit_log
       where kind = 'speaker_claim_overridden' and session_id = $1 order by seq`,
      [sessionId],
    );
  }

  it("an assignment to somebody else than the claimant is on record", async () => {
    const other = await fixture.user();
    await claim(claimant.id);
    await claim(other.id, owner.id);
    expect(await overrides()).toEqual([
      {
        actor_id: owner.id,
        subject_id: claimant.id,
        detail: { label: "S1", assigned_user_id: other.id },
      },
    ]);
  });

  it("so is taking a claim away from its claimant", async () => {
    await claim(claimant.id);
    await story.tell([{ type: "SpeakerUnclaimed", label: "S1", byUserId: owner.id }]);
    expect(await overrides()).toEqual([
      { actor_id: owner.id, subject_id: claimant.id, detail: { label: "S1", revoked: true } },
    ]);
  });

  it("what overrides nobody is not", async () => {
    await claim(claimant.id, owner.id);
    await claim((await fixture.user()).id, owner.id);
    await story.tell([{ type: "SpeakerUnclaimed", label: "S1", byUserId: owner.id }]);
    await claim(claimant.id);
    await claim(claimant.id, owner.id);
    await story.tell([{ type: "SpeakerUnclaimed", label: "S1", byUserId: claimant.id }]);
    expect(await overrides()).toEqual([]);
  });
});
