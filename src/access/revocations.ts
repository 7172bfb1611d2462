/** Something that ended a right; ids only. */
export type RevocationEvent =
  /** Disabled, enabled, or given another role: everything known about the user is stale. */
  | { kind: "user"; userId: string }
  /** One login ended. */
  | { kind: "login"; userId: string; loginId: string }
  | { kind: "guest"; guestId: string }
  /** A session deleted, or shared with others than before, be they members or guests. */
  | { kind: "session"; sessionId: string }
  /** A device unpaired, or one of its keys revoked. */
  | { kind: "device"; deviceId: string }
  /** A service key revoked or rotated. */
  | { kind: "service_key"; keyId: string }
  | { kind: "workspace"; workspaceId: string }
  /** A user left a workspace, or changed role there. */
  | { kind: "workspace_member"; workspaceId: string; userId: string }
  /** A user left a session, or the session's sharing changed. */
  | { kind: "session_member"; sessionId: string; userId: string }
  /** What ended could not be learnt: the rights of everybody are in doubt. */
  | { kind: "unknown" };

/**
 * Tells every process what ended, so that caches forget and whoever is connected is checked anew.
 * What is published may be lost on its way between processes and is only the quick way: the record
 * tells each of them the same within 2 s, by `RevocationReader`. So listeners hear most of it twice.
 */
export interface RevocationFeed {
  /** Never throws and never waits; listeners of this process hear it too. */
  publish(event: RevocationEvent): void;
  /** Returns how to stop. */
  subscribe(listener: (event: RevocationEvent) => void): () => void;
}
