/** An administrator's elevation in force, with the reason that is on record. */
export interface ElevationInForce {
  id: string;
  reason: string;
  /** Unix milliseconds. */
  expiresAt: number;
}

/** What an elevation has to cover: a session, a workspace with all its sessions, or everything. */
export interface ElevationScope {
  sessionId?: string;
  workspaceId?: string;
}

/** What an audit entry tells of the elevation under which something was done. */
export function elevationDetail(
  elevation: ElevationInForce | undefined,
): Record<"elevation_id" | "reason", string> | undefined {
  return elevation && { elevation_id: elevation.id, reason: elevation.reason };
}

/** Membership, a role or a door for guests that an administrator gave under an elevation, without a role there. */
export interface ElevatedGrant {
  adminId: string;
  elevation: ElevationInForce;
  /** Who got it, and is not told as an owner. */
  receiverId?: string | undefined;
  /** Of what: whose owners are told. A moderator reads in every workspace that he belongs to. */
  of:
    | { workspaceId: string }
    | { guestsOfWorkspaceId: string }
    | { sessionId: string }
    | { moderatorId: string };
}

/** Port: tells owners what an administrator gave. */
export interface OwnerNotices {
  /** Returns at once; the owners are told afterwards. Never throws. */
  notify(grant: ElevatedGrant): void;
}
