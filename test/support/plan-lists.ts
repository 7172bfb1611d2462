import type { DatabasePool } from "slonik";
import type { Principal, UserPrincipal } from "../../src/access/principal.ts";
import { newId } from "../../src/base/ids.ts";
import {
  SESSION_SORTS,
  type SessionFilter,
  SessionListStore,
} from "../../src/conversations/sessions/list-store.ts";
import type { Populated } from "./plan-population.ts";

const DAY = 24 * 3_600_000;

/**
 * Asks for two pages of sessions by each filter and in each order: as the owner of all, as a moderator,
 * as somebody who sees none, as a service key, and as an administrator.
 */
export async function askListsOf(pool: DatabasePool, years: Populated): Promise<void> {
  const list = new SessionListStore(pool);
  for (const caller of callersOf(years)) {
    for (const filter of filtersOf(years)) {
      for (const sort of [undefined, ...SESSION_SORTS]) {
        const request = { filter, sort, limit: 20 };
        const { next } = await list.list(caller, { ...request, after: undefined });
        if (next !== undefined) await list.list(caller, { ...request, after: next });
      }
    }
  }
}

function callersOf({ ownerId, workspaceId }: Populated): Principal[] {
  const person = (id: string, role: UserPrincipal["role"]): Principal => {
    return { kind: "user", id, role, tokenId: "", expiresAt: Number.POSITIVE_INFINITY };
  };
  return [
    person(ownerId, "participant"),
    person(ownerId, "moderator"),
    person(newId(), "participant"),
    person(newId(), "admin"),
    {
      kind: "service",
      id: newId(),
      secretId: newId(),
      workspaceId,
      makerId: ownerId,
      scopes: ["sessions:read"],
      expiresAt: Number.POSITIVE_INFINITY,
    },
  ];
}

/** Each filter alone: what finds much, little and nothing. */
function filtersOf({ workspaceId, ownerId }: Populated): SessionFilter[] {
  return [
    {},
    { workspaceId },
    { title: "meeting" },
    { title: "week 333" },
    { title: "never" },
    { from: Date.now() - 3 * DAY, to: Date.now() - 2 * DAY },
    { speaker: "speaker 17" },
    { speaker: "nobody" },
    { speakerUserId: ownerId },
    { speakerUserId: newId() },
    { deviceId: newId() },
    { externalId: "meeting-77" },
    { externalId: "meeting-0" },
    { metadata: { number: "77" } },
    { tags: ["room 7"] },
    { tags: ["even"] },
    { tags: ["even", "room 7"] },
    { tags: ["none"] },
  ];
}
