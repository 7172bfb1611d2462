import type { Tokens } from "../accounts/tokens.ts";
import type { FeatureContext } from "../context.ts";
import { GuestEntry, guestRoutes } from "./entry.ts";
import type { GuestStore } from "./store.ts";

interface CreateGuestOptions {
  guests: GuestStore;
  tokens: Pick<Tokens, "sign">;
}

/** People without an account, in one session each. */
export function createGuests({ clock }: FeatureContext, { guests, tokens }: CreateGuestOptions) {
  const guestEntry = new GuestEntry(guests, tokens, clock);
  return { guestEntry, routes: guestRoutes({ guestEntry }) };
}
