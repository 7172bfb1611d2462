import type { ApiPorts } from "./api/routes.ts";
import type { CommandNotifier } from "./api/sessions-outbox.ts";
import type { SessionStartPorts } from "./api/sessions-start.ts";
import type { AppContext } from "./app-shared.ts";
import type { Authenticator } from "./auth/authenticator.ts";
import type { RevocationFeed } from "./auth/revocation-feed.ts";
import { PostgresAudioInventories } from "./store/audio-inventories.ts";
import { PostgresAwaitedAudio } from "./store/awaited-audio.ts";
import { DeviceStore } from "./store/devices.ts";
import { PostgresRedactedSpans } from "./store/redacted-spans.ts";
import type { PostgresSegments } from "./store/segments.ts";
import { PostgresSessionMembers } from "./store/session-members.ts";
import { PostgresRecordings } from "./store/session-recordings.ts";
import type { PostgresSessions } from "./store/sessions.ts";
import { PostgresDeviceSessions } from "./store/sessions-device.ts";
import type { UserStore } from "./store/users.ts";

interface SessionParts {
  directory: PostgresSessions;
  segments: PostgresSegments;
  users: UserStore;
  workshops: SessionStartPorts["workshops"];
  notifier: CommandNotifier;
  authenticator: Authenticator;
  revocations: RevocationFeed;
}

/** What people do with sessions besides reading their words. */
export function createSessionPorts(
  { config, clock, log, shared: { pool, blobs, keys } }: AppContext,
  { directory, segments, users, workshops, notifier, authenticator, revocations }: SessionParts,
): Pick<ApiPorts, "recordings" | "ownSessions"> {
  return {
    recordings: {
      directory,
      recordings: new PostgresRecordings(pool, blobs, new PostgresRedactedSpans(pool)),
      inventories: new PostgresAudioInventories(pool),
      gaps: segments,
      awaited: new PostgresAwaitedAudio(pool),
      patience: config.patience,
      authenticator,
      clock,
    },
    ownSessions: {
      directory,
      devices: new DeviceStore(pool),
      sessions: new PostgresDeviceSessions(pool),
      members: new PostgresSessionMembers(pool),
      users,
      workshops,
      revocations,
      notifier,
      log,
      cursorKey: keys.cursorKey,
    },
  };
}
