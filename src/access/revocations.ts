/** An event that ended a right; contains ids only. */
export type RevocationEvent =
  /**
   * The user was disabled, enabled, or given another role; everything cached about the user is
   * stale.
   */
  | { kind: "user"; userId: string }
  /** One login ended. */
  | { kind: "login"; userId: string; loginId: string }
  | { kind: "guest"; guestId: string }
  /** The session was deleted, or is shared with other members or guests than before. */
  | { kind: "session"; sessionId: string }
  /** The device was unpaired, or one of its keys revoked. */
  | { kind: "device"; deviceId: string }
  /** The service key was revoked or rotated. */
  | { kind: "service_key"; keyId: string }
  | { kind: "workspace"; workspaceId: string }
  /** The user left a workspace, or has another role there. */
  | { kind: "workspace_member"; workspaceId: string; userId: string }
  /** The user left a session, or the session's sharing changed. */
  | { kind: "session_member"; sessionId: string; userId: string }
  /** It is unknown what ended: the rights of everybody must be checked. */
  | { kind: "unknown" };

/**
 * Notifies every process of ended rights, so that caches are cleared and connections checked again.
 * Messages between processes may be lost and are only the fast way: within 2 s each process reads
 * the same from the database, with `RevocationReader`. So listeners receive most events twice.
 */
export interface RevocationFeed {
  /** Sends an event. Never throws and never waits; listeners of this process receive it too. */
  publish(event: RevocationEvent): void;
  /** Returns a function that ends the subscription. */
  subscribe(listener: (event: RevocationEvent) => void): () => void;
}
