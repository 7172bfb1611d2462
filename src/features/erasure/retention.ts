import type { SessionEraser } from "./session-eraser.ts";

const PAGE = 100;

/** Port: sessions that are older than their workspace keeps them. */
export interface RetentionRecords {
  /** Ended sessions past the workspace's `retention_days`, oldest first. */
  expired(limit: number): Promise<string[]>;
}

/** Deletes sessions whose time is over; returns how many. */
export async function applyRetention(
  records: RetentionRecords,
  sessions: SessionEraser,
): Promise<number> {
  const expired = await records.expired(PAGE);
  for (const id of expired) {
    await sessions.erase(id, "retention_session_redacted", { kind: "system" });
  }
  return expired.length;
}
