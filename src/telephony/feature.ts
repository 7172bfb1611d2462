import type { FeatureContext } from "../conversations/context.ts";
import type { DeviceSessionStore } from "../conversations/recording/device-sessions-store.ts";
import type { SessionStore } from "../conversations/sessions/store.ts";
import type { LiveTickets } from "../tenancy/accounts/live-tickets.ts";
import { telephonyRoutes } from "./routes.ts";

interface CreateTelephonyOptions {
  directory: SessionStore;
  deviceSessions: Pick<DeviceSessionStore, "stop">;
  liveTickets: LiveTickets;
  publicUrl: string | undefined;
}

/** Telephone calls that stream into sessions. */
export function createTelephony(
  { notifier, log }: FeatureContext,
  { directory, deviceSessions: sessions, liveTickets: tickets, publicUrl }: CreateTelephonyOptions,
) {
  return {
    /** What calls need besides the streams. */
    calls: { tickets, directory, sessions, notifier, log },
    routes: telephonyRoutes({ tickets, directory, publicUrl }),
  };
}
