export interface GuestStanding {
  guestId: string;
  sessionId: string;
  displayName: string;
  /** Unix milliseconds. */
  expiresAt: number;
}

export type Admission = "admitted" | "closed" | "unknown_session";

/** The guests on record. */
export interface GuestBook {
  /** Decided and recorded under the session row's lock. A deleted session is an unknown one. */
  admit(guest: GuestStanding): Promise<Admission>;
  /** Undefined when the guest was removed, guest access closed, or the session deleted. */
  standing(guestId: string): Promise<GuestStanding | undefined>;
  revoke(guestId: string): Promise<void>;
}
