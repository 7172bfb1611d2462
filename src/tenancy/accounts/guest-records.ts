/** A guest whose access to a session stands. */
export interface GuestStatus {
  guestId: string;
  sessionId: string;
  displayName: string;
  /** Unix milliseconds. */
  expiresAt: number;
}

/** Port: looks up guests and ends their visits. Throws `unavailable` when storage is away. */
export interface GuestRecords {
  /**
   * Undefined when the guest was removed or has left, the session takes such guests no longer, or
   * it was deleted.
   */
  status(guestId: string): Promise<GuestStatus | undefined>;
  /** Ends a guest's visit, for good. */
  revoke(guestId: string): Promise<void>;
}
