import { Type } from "@sinclair/typebox";
import { type Clock, toTimestamp } from "../../base/clock.ts";
import { AppError, unknownThing } from "../../base/errors.ts";
import { isId, newId } from "../../base/ids.ts";
import { defineRoute, type Route } from "../../rest/route.ts";
import { nameSchema } from "../../wire/names.ts";
import type { GuestStatus } from "../accounts/guest-records.ts";
import type { Tokens } from "../accounts/tokens.ts";
import type { GuestStore } from "./store.ts";

const GUEST_LIFETIME = 12 * 3_600_000;

/** Lets people without an account into one session. */
export class GuestEntry {
  readonly #guests: GuestStore;
  readonly #tokens: Pick<Tokens, "sign">;
  readonly #clock: Clock;

  constructor(guests: GuestStore, tokens: Pick<Tokens, "sign">, clock: Clock) {
    this.#guests = guests;
    this.#tokens = tokens;
    this.#clock = clock;
  }

  /** Admits a guest. Rejects with `not_found` or `guest_access_closed`. */
  async enter(
    sessionId: string,
    displayName: string,
  ): Promise<{ token: string; guest: GuestStatus }> {
    const now = this.#clock.now();
    // Tokens carry whole seconds, so the stored time is rounded down likewise.
    const expiresAt = Math.floor((now + GUEST_LIFETIME) / 1000) * 1000;
    const guest = { guestId: newId(now), sessionId, displayName, expiresAt };
    const admission = await this.#guests.admit(guest);
    if (admission === "unknown_session") {
      throw unknownThing("session", sessionId);
    }
    if (admission === "closed") {
      throw new AppError("guest_access_closed", "This session takes no guests.");
    }
    const token = await this.#tokens.sign({
      kind: "guest",
      subject: guest.guestId,
      scope: sessionId,
      expiresAt,
    });
    return { token, guest };
  }
}

interface GuestOptions {
  guestEntry: Pick<GuestEntry, "enter">;
}

/** POST /auth/guest. */
export function guestRoutes({ guestEntry }: GuestOptions): Route[] {
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
        display_name: nameSchema({ minLength: 1, maxLength: 100 }),
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
      const { token, guest } = await guestEntry.enter(session_id, display_name);
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
