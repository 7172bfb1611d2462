import type { FeatureContext } from "../context.ts";
import { guestCodeRoutes } from "./codes-routes.ts";
import { GuestCodeStore } from "./codes-store.ts";
import { GuestEntry, type GuestEntryOptions, guestRoutes } from "./entry.ts";

interface CreateGuestOptions extends Omit<GuestEntryOptions, "notifier" | "clock"> {
  authenticator: Parameters<typeof guestRoutes>[0]["authenticator"];
  /** Where clients reach this service. */
  publicUrl: () => string;
}

/** People without an account, in one session each, and the codes that let them in. */
export function createGuests(
  { pool, clock, notifier, revocations, cursorKey }: FeatureContext,
  { authenticator, publicUrl, ...options }: CreateGuestOptions,
) {
  const { directory } = options;
  const guestEntry = new GuestEntry({ ...options, notifier, clock });
  const codes = new GuestCodeStore(pool);
  return {
    guestEntry,
    routes: [
      ...guestRoutes({ guestEntry, authenticator, clock, publicUrl }),
      ...guestCodeRoutes({ directory, codes, revocations, clock, cursorKey }),
    ],
  };
}
