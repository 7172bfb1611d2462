import type { Clock } from "../../base/clock.ts";
import { AppError, unknownThing } from "../../base/errors.ts";
import { newId } from "../../base/ids.ts";
import type { GuestBook, GuestStanding } from "./guest-book.ts";
import type { Tokens } from "./tokens.ts";

const GUEST_LIFETIME = 12 * 3_600_000;

/** Lets people without an account into one session. */
export class GuestEntry {
  readonly #guests: GuestBook;
  readonly #tokens: Tokens;
  readonly #clock: Clock;

  constructor(guests: GuestBook, tokens: Tokens, clock: Clock) {
    this.#guests = guests;
    this.#tokens = tokens;
    this.#clock = clock;
  }

  /** Rejects with `not_found` or `guest_access_closed`. */
  async enter(
    sessionId: string,
    displayName: string,
  ): Promise<{ token: string; guest: GuestStanding }> {
    const now = this.#clock.now();
    // A token's time is in whole seconds; the record says the same.
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
