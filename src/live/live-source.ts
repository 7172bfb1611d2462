import type { Principal } from "../access/principal.ts";
import type {
  DurableFrame,
  PublishedFrame,
  SessionEnd,
  SessionHeartbeat,
  SnapshotFrame,
} from "../wire/live-frames.ts";

/** What happens in sessions, for those who follow. */
export interface LiveSource {
  /**
   * Frames of a session as they are published, batched per turn; at most once, so gaps are
   * possible. `onDoubt` is called once the following stands, and again after every break of it:
   * what was published before may have been missed, and the journal has it. Returns how to stop.
   */
  follow(
    sessionId: string,
    onFrames: (frames: PublishedFrame[]) => void,
    onDoubt?: () => void,
  ): () => void;
  /** Durable frames after `fromSeq`, at most `limit`, in order and without gaps. */
  replay(sessionId: string, fromSeq: number, limit: number): Promise<DurableFrame[]>;
  snapshot(sessionId: string): Promise<SnapshotFrame>;
  /**
   * What the record says in place of the actor's heartbeat, for a session of which nothing is
   * heard. Throws `not_found` when there is no such session or it was deleted.
   */
  beat(sessionId: string): Promise<SessionHeartbeat>;
}

/** Decides who may follow a session. */
export interface ViewerPolicy {
  /**
   * Returns when this caller may follow the session now; throws an AppError otherwise: 401, 403 or
   * 404. Asked at Subscribe, and with `again` whenever something ended that may concern it.
   */
  check(principal: Principal, sessionId: string, again: boolean): Promise<ViewerRight>;
}

interface ViewerRight {
  /** How the session ended, if it has. */
  ended: SessionEnd | undefined;
  /** When the right ends by itself, Unix milliseconds. */
  until: number;
}
