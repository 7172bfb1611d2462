import type { OutboxRow } from "../../postgres/sessions-outbox.ts";
import type { SessionPhase, StopReason } from "../../session/status.ts";

export interface NewSession {
  id: string;
  jobId: string;
  workspaceId: string;
  ownerId: string;
  /** Whose key uploads its audio; without one nobody can upload any. */
  deviceId: string | undefined;
  title: string;
  language: string;
  vocabulary: string[];
  workshopId: string | undefined;
}

export interface StopRequest {
  deviceId: string;
  /** The one that records, else the newest, when not named. */
  sessionId: string | undefined;
  lastSequence: number | undefined;
  /** Set when the service stops it by itself. */
  reason?: StopReason;
}

/** The owner's stop: of this session, whichever device records it. */
export interface OwnerStopRequest {
  deviceId: undefined;
  sessionId: string;
  lastSequence: number | undefined;
  reason?: undefined;
}

/** Port: starts and stops sessions. Every method throws `unavailable` when storage is away. */
export interface DeviceSessionStore {
  deviceExists(deviceId: string): Promise<boolean>;
  /** The session that the device records now. */
  recording(deviceId: string): Promise<string | undefined>;
  /** Undefined when there is no such workspace. */
  workspace(
    workspaceId: string,
    userId: string,
  ): Promise<{ preferredLanguage: string; isMember: boolean } | undefined>;
  /**
   * Session, transcription job and the command to the actor, all or nothing.
   * Throws `already_recording` with the running session's id in its message,
   * `not_found` when the workspace went meanwhile.
   */
  start(session: NewSession): Promise<{ startedAt: number; outbox: OutboxRow[] }>;
  /**
   * Under the session row's lock: no chunk beyond the last one gets in
   * afterwards. Stopping a stopped session changes nothing. Throws `not_found`
   * when there is no such session of the device, `conflict` when it was stopped with
   * another last sequence.
   */
  stop(
    request: StopRequest | OwnerStopRequest,
  ): Promise<{ sessionId: string; status: SessionPhase; outbox: OutboxRow[] }>;
}
