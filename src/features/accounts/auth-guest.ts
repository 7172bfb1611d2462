import { Type } from "@sinclair/typebox";
import { toTimestamp } from "../../base/clock.ts";
import { unknownThing } from "../../base/errors.ts";
import { isId } from "../../base/ids.ts";
import { defineRoute, type Route } from "../../rest/route.ts";
import type { GuestEntry } from "./guest-entry.ts";

export interface GuestPorts {
  guestEntry: Pick<GuestEntry, "enter">;
}

/** POST /auth/guest. */
export function guestRoutes({ guestEntry }: GuestPorts): Route[] {
  const enter = defineRoute({
    method: "post",
    path: "/auth/guest",
    id: "enterAsGuest",
    tag: "Auth",
    summary: "Join one session as a guest",
    description:
      "Whoever was given the session's id is invited, unless its guest access is closed. The token opens that session only, until its guest access closes, at most 12 h.",
    auth: [],
    body: {
      kind: "json",
      schema: Type.Object({
        session_id: Type.String({ maxLength: 64 }),
        display_name: Type.String({ minLength: 1, maxLength: 100, pattern: "\\S" }),
      }),
    },
    responses: {
      201: {
        description: "The guest and its token",
        schema: Type.Object({
          token: Type.String(),
          expires_at: Type.String(),
          guest: Type.Object({ id: Type.String(), display_name: Type.String() }),
          session_id: Type.String(),
        }),
      },
    },
    errors: ["guest_access_closed", "not_found"],
    async handle({ body }) {
      const { session_id, display_name } = body;
      if (!isId(session_id)) throw unknownThing("session", session_id);
      const { token, guest } = await guestEntry.enter(session_id, display_name.trim());
      return {
        status: 201,
        body: {
          token,
          expires_at: toTimestamp(guest.expiresAt),
          guest: { id: guest.guestId, display_name: guest.displayName },
          session_id,
        },
      };
    },
  });
  return [enter];
}
