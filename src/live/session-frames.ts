import type { ServerFrame } from "../wire/live-frames.ts";

/** Port: what is told of a session while it is read. */
export interface SessionFrames {
  /**
   * Reads from the session's beginning: every durable frame once and in order, and what is there for
   * a moment only as it comes. Nothing is held in memory without a bound: hints are dropped for a
   * reader that falls behind, and durable frames are read again from the record.
   */
  follow(sessionId: string): FrameReader;
}

export interface FrameReader {
  /**
   * The frames that came since the last call, at least one unless none comes within `ms`. Rejects
   * when the record cannot be read, and with `session_deleted` once the session was deleted. One
   * call at a time.
   */
  next(ms: number): Promise<readonly ServerFrame[]>;
  /** Must be called once. */
  close(): void;
}
