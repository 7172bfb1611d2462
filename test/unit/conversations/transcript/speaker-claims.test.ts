import { describe, expect, it } from "vitest";
import type { SessionFacts } from "../../../../src/access/policy.ts";
import type { Principal } from "../../../../src/access/principal.ts";
import { AppError } from "../../../../src/base/errors.ts";
import { isId, newId } from "../../../../src/base/ids.ts";
import { speakerClaimRoutes } from "../../../../src/conversations/transcript/claims.ts";
import type { Route } from "../../../../src/rest/route.ts";
import type { OutsideCommand } from "../../../../src/session/outside-command.ts";
import { callRoute, codeOf, jsonBody } from "../../../support/route-call.ts";

const sessionId = newId();
const known = newId();
const caller: Principal = {
  kind: "user",
  id: newId(),
  role: "participant",
  tokenId: newId(),
  expiresAt: 0,
};

const contested: unknown[] = [];

function routesFor(
  relation: SessionFacts["relation"],
  asked: OutsideCommand[],
  refuse?: AppError,
): readonly Route[] {
  const facts: SessionFacts = {
    kind: "session",
    workspaceId: "w1",
    id: sessionId,
    relation,
    workspaceRole: undefined,
    deleted: false,
    ended: undefined,
    guestAccess: "open",
    deviceId: undefined,
    startedAt: 0,
    elevatedUntil: undefined,
  };
  const unused = (): never => {
    throw new Error("not asked for here");
  };
  return speakerClaimRoutes({
    directory: {
      facts: async (_principal, id) => (id === sessionId ? facts : undefined),
      recordContentRead: unused,
    },
    assignees: { isAssignable: async (_caller, _session, id) => id === known },
    contest: async (...claim) => void contested.push(claim),
    actors: {
      ask: async (id, command, commandId) => {
        expect(id).toBe(sessionId);
        expect(isId(commandId)).toBe(true);
        asked.push(command);
        if (refuse !== undefined) throw refuse;
        if (command.type !== "Claim") throw new Error("another command than a claim");
        const { label, source, claimedUserId } = command;
        return { label, source, claimedUserId };
      },
    },
  });
}

function claim(
  relation: SessionFacts["relation"],
  body: unknown,
  options: { asked?: OutsideCommand[]; refuse?: AppError; session_id?: string } = {},
): ReturnType<typeof callRoute> {
  const routes = routesFor(relation, options.asked ?? [], options.refuse);
  return callRoute(routes, "claimSpeaker", {
    principal: caller,
    params: { session_id: options.session_id ?? sessionId },
    body,
  });
}

const self = { speaker_label: "S1", source: "self_claim" };
const assign = { speaker_label: "S1", source: "moderator_assignment", assigned_user_id: known };

describe("speaker claims", () => {
  it("speaker claims: a self claim names the caller and ignores an assignee", async () => {
    const asked: OutsideCommand[] = [];
    const reply = await claim("participant", { ...self, assigned_user_id: 7 }, { asked });
    expect(reply.status).toBe(200);
    expect(jsonBody(reply)).toEqual({ ...self, claimed_user_id: caller.id });
    expect(asked).toEqual([
      {
        type: "Claim",
        label: "S1",
        source: "self_claim",
        claimedUserId: caller.id,
        byUserId: caller.id,
        byOwner: false,
      },
    ]);
  });

  it("speaker claims: the owner assigns a known user", async () => {
    const asked: OutsideCommand[] = [];
    const reply = await claim("owner", assign, { asked });
    expect(jsonBody(reply)).toEqual({
      speaker_label: "S1",
      source: "moderator_assignment",
      claimed_user_id: known,
    });
    expect(asked[0]).toMatchObject({ claimedUserId: known, byOwner: true });
  });

  it("speaker claims: 404 session, 403 relation, 403 not owner, 400 assignee, 404 assignee", async () => {
    const code = (...args: Parameters<typeof claim>) => codeOf(claim(...args));
    expect(await code("owner", self, { session_id: newId() })).toBe("not_found");
    expect(await code("none", self)).toBe("forbidden");
    expect(await code("participant", { ...assign, assigned_user_id: "x" })).toBe("forbidden");
    expect(await code("owner", { ...assign, assigned_user_id: undefined })).toBe("invalid_body");
    expect(await code("owner", { ...assign, assigned_user_id: 5 })).toBe("invalid_body");
    expect(await code("owner", { ...assign, assigned_user_id: newId() })).toBe("not_found");
  });

  it("speaker claims: the actor's refusal is the answer", async () => {
    const refuse = new AppError("already_claimed", "S1 is claimed by someone else.");
    expect(await codeOf(claim("participant", self, { refuse }))).toBe("already_claimed");
    expect(contested).toEqual([[sessionId, "S1", caller.id]]);
  });
});
