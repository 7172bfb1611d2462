import { expect, it } from "vitest";
import { Encryption } from "../../../../src/access/encryption.ts";
import type { SessionFacts } from "../../../../src/access/policy.ts";
import type { UserPrincipal } from "../../../../src/access/principal.ts";
import { createDeferred } from "../../../../src/base/deferred.ts";
import { newId } from "../../../../src/base/ids.ts";
import type { RememberedVoiceStore } from "../../../../src/conversations/voices/remembered-voices-store.ts";
import { voiceRoutes } from "../../../../src/conversations/voices/routes.ts";
import type { Request } from "../../../../src/rest/route.ts";
import { codeOf } from "../../../support/route-call.ts";

const SECONDS = 12;
const workspaceId = newId();

function person(): UserPrincipal {
  return { kind: "user", id: newId(), role: "participant", tokenId: "t", expiresAt: 0 };
}

it("remembering: one voice of a person at a time and few of all, as each costs the workers seconds", async () => {
  const gate = createDeferred<void>();
  const facts: SessionFacts = {
    kind: "session",
    id: newId(),
    workspaceId,
    relation: "owner",
    workspaceRole: "member",
    deleted: false,
    ended: "completed",
    guestAccess: "open",
    deviceId: undefined,
    startedAt: 0,
    elevatedUntil: undefined,
  };
  const remembered = {
    claimProof: async () => ({
      isContested: false,
      isConfirmed: true,
      isOwner: true,
      isAlone: false,
    }),
    put: async (_user: string, voice: object) => ({ ...voice, rememberedAt: 0 }),
  } as unknown as RememberedVoiceStore;
  const { routes, slots } = voiceRoutes({
    directory: { facts: async () => facts },
    workspaces: { role: async () => "member" },
    remembered,
    speech: { read: async () => ({ pcm: Buffer.alloc(SECONDS * 32_000), spans: [] }) },
    voices: {
      compare: async () => {
        await gate.promise;
        return { method: "m", print: Buffer.alloc(1), speechMs: SECONDS * 1_000, logRatios: [] };
      },
    },
    encryption: new Encryption(new Uint8Array(32)),
  });
  const put = routes.find(({ id }) => id === "rememberVoice");
  const ask = async (principal: UserPrincipal) => {
    const body = { workspace_id: workspaceId, session_id: facts.id, label: "S1", consent: true };
    return put?.handle({ principal, body } as unknown as Request, undefined);
  };
  const people = Array.from({ length: 4 }, person);
  const first = people.map(ask);
  await Promise.resolve();
  expect(await codeOf(ask(people[0] ?? person()))).toBe("overloaded");
  expect(await codeOf(ask(person()))).toBe("overloaded");
  expect(slots.queues).toMatchObject([{ length: 4, limit: 4, refused: 2 }]);
  gate.resolve();
  for (const answer of await Promise.all(first)) expect(answer?.status).toBe(200);
  const again = person();
  const running = ask(again);
  expect(await codeOf(ask(again))).toBe("rate_limited");
  await running;
  expect(slots.taken).toBe(0);
});
