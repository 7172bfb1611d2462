/** Something that ended a right; ids only. */
export type RevocationEvent =
  /** Disabled, enabled, or given another role: everything known about the user is stale. */
  | { kind: "user"; userId: string }
  /** One login ended. */
  | { kind: "login"; userId: string; loginId: string }
  | { kind: "guest"; guestId: string; sessionId: string }
  /** Guest access to a session closed, or the session deleted. */
  | { kind: "session_guests"; sessionId: string }
  /** A device unpaired, or one of its keys revoked. */
  | { kind: "device"; deviceId: string }
  /** A service key revoked or rotated. */
  | { kind: "service_key"; keyId: string }
  /** A user left a workspace, or changed role there. */
  | { kind: "workspace_member"; workspaceId: string; userId: string }
  /** A user left a session, or the session's sharing changed. */
  | { kind: "session_member"; sessionId: string; userId: string };

/**
 * Tells every process what ended, so that caches forget and sockets close.
 * Delivery is best effort: caches expire by themselves within 2 s.
 */
export interface RevocationFeed {
  /** Never throws and never waits; listeners of this process hear it too. */
  publish(event: RevocationEvent): void;
  /** Returns how to stop. */
  subscribe(listener: (event: RevocationEvent) => void): () => void;
}
