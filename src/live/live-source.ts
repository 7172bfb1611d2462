import type { Principal } from "../access/principal.ts";
import type {
  DurableFrame,
  PublishedFrame,
  SessionEnd,
  SessionHeartbeat,
  SnapshotFrame,
} from "../wire/live-frames.ts";

/** Port: the frames of sessions, for their followers. */
export interface LiveSource {
  /**
   * Passes on frames of a session as they are published, batched per turn; at most once, so gaps
   * are possible. `onDoubt` is called once the subscription is in place, and again after every
   * break: frames published before may have been missed, and are in the journal. Returns a function
   * that ends it.
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
   * Reads a heartbeat from the database, for a session whose actor is silent. Throws `not_found`
   * when there is no such session or it was deleted.
   */
  beat(sessionId: string): Promise<SessionHeartbeat>;
}

/** Decides who may follow a session. */
export interface ViewerPolicy {
  /**
   * Returns the right of this caller to follow the session; throws an AppError of status 401, 403
   * or 404 without one. Called at Subscribe, and with `again` whenever something ended that may
   * concern it.
   */
  check(principal: Principal, sessionId: string, again: boolean): Promise<ViewerRight>;
}

interface ViewerRight {
  /** How the session ended, if it has. */
  ended: SessionEnd | undefined;
  /** When the right expires, Unix milliseconds. */
  until: number;
}
