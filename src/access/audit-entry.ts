import type { Principal } from "./principal.ts";

/** Kinds of audit entries; a closed list, so that readers can rely on it. */
export const AUDIT_KINDS = [
  "content_elevated",
  "content_elevation_ended",
  "content_read",
  "session_deleted_by_owner",
  "session_deleted_by_admin",
  "account_erasure_session_redacted",
  "retention_session_redacted",
  "span_redacted",
  "speaker_redacted",
  "account_erased",
  "retention_changed",
  "guest_access_changed",
  "remote_engines_changed",
  "remote_text_changed",
  "workspace_deleted",
  "user_created",
  "user_disabled",
  "user_enabled",
  "user_role_changed",
  "password_changed",
  "login_failed",
  "login_linked",
  "workspace_member_added",
  "workspace_member_removed",
  "workspace_role_changed",
  "workspace_member_invited",
  "session_member_added",
  "session_member_removed",
  "session_member_invited",
  "invitation_accepted",
  "invitation_declined",
  "invitation_withdrawn",
  "guest_entered",
  "guest_code_issued",
  "guest_code_revoked",
  "device_key_issued",
  "device_unpaired",
  "device_reading_changed",
  "service_key_issued",
  "service_key_rotated",
  "service_key_adopted",
  "service_key_revoked",
  "signing_key_rotated",
  "speaker_claim_overridden",
  "voice_remembered",
  "voice_forgotten",
  "voice_suggestion_accepted",
  "transcription_redone",
  "transcription_reviewed",
  "webhook_created",
  "webhook_changed",
  "webhook_adopted",
  "webhook_deleted",
  "command_retried",
  "command_dropped",
] as const;

export type AuditKind = (typeof AUDIT_KINDS)[number];

/** The actor of an entry: a principal's kind and id, or the service itself. */
export interface AuditActor {
  kind: Principal["kind"] | "system";
  id?: string | undefined;
}

export const SYSTEM: AuditActor = { kind: "system" };

export interface AuditEntry {
  kind: AuditKind;
  actor: AuditActor;
  workspaceId?: string | undefined;
  sessionId?: string | undefined;
  /** The object of the action: a user, a key, a device, an elevation. */
  subjectId?: string | undefined;
  /** Ids, names, numbers and reasons; never words of a session, never secrets. */
  detail?: Readonly<Record<string, string | number | boolean>>;
}

/** A sign-in that failed. */
export interface FailedSignIn {
  reason: string;
  /** Undefined when no account is known. */
  accountId?: string | undefined;
  /** The identity provider; undefined for the service's own sign-in. */
  provider?: string | undefined;
  /** The caller's network address. */
  address: string;
}

/** Port: counts sign-ins that failed, for the audit log. Resolves when the count is durable. */
export interface FailedSignInTrail {
  recordFailedSignIn(failure: FailedSignIn): Promise<void>;
}

export function actorOf({ kind, id }: Principal): AuditActor {
  return { kind, id };
}
