import type { UserPrincipal } from "../../access/principal.ts";

/** An administrator's reason to see content, for a while. Times are Unix milliseconds. */
export interface Elevation {
  id: string;
  adminId: string;
  /** Undefined covers all sessions. */
  sessionId?: string | undefined;
  reason: string;
  expiresAt: number;
}

/**
 * Port: elevations. Each is written together with its audit entry: none is in
 * force without one. Every method throws `unavailable` when storage is away.
 */
export interface ElevationBook {
  /** False, and nothing is written, when there is no such session or it was deleted. */
  open(elevation: Elevation): Promise<boolean>;
  /** The administrator whose elevation it was; undefined when there is no such elevation. Repeatable. */
  end(elevationId: string, by: UserPrincipal): Promise<{ adminId: string } | undefined>;
}
