import type { Authenticator } from "../access/authenticator.ts";
import { readsByElevation } from "../access/policy.ts";
import { recheckSession, requireSession } from "../conversations/sessions/access.ts";
import type { SessionStore } from "../conversations/sessions/store.ts";
import { DEFAULT_LIVE_LIMITS } from "../http/sockets/live-limits.ts";
import { FeedRegistry } from "../live/feed-registry.ts";
import { FrameReaders } from "../live/frame-reader.ts";
import type { LiveSource, ViewerPolicy } from "../live/live-source.ts";
import type { AppContext, Shared } from "./shared.ts";

/** Creates the source of sessions' live events, for followers over any transport. */
export function createLiveSource({ fanout, liveLog: log, heartbeat }: Shared): LiveSource {
  return {
    follow: (sessionId, onFrames, onDoubt) => fanout.follow(sessionId, onFrames, onDoubt),
    replay: (sessionId, fromSeq, limit) => log.replay(sessionId, fromSeq, limit),
    snapshot: (sessionId) => log.snapshot(sessionId),
    beat: (sessionId) => heartbeat.read(sessionId),
  };
}

/** Creates the readers of sessions that are made by a call, and answered by it. */
export function createFrameReaders({ shared, runtime, log, queues }: AppContext): FrameReaders {
  const { tickMs, recentFrames: recent, readTimeoutMs, quietMs } = DEFAULT_LIVE_LIMITS;
  const feeds = new FeedRegistry({
    ...{ source: createLiveSource(shared), runtime, log },
    ...{ tickMs, recent, readTimeoutMs, quietMs },
  });
  queues.add(feeds);
  return new FrameReaders(feeds);
}

/** Decides who may follow a session: callers who may read its words. */
export function createViewerPolicy(
  authenticator: Pick<Authenticator, "revalidate">,
  directory: SessionStore,
): ViewerPolicy {
  return {
    async check(principal, sessionId, again) {
      const current = await authenticator.revalidate(principal);
      // A continued watch is recorded as one read, however often the right is checked.
      const require = again ? recheckSession : requireSession;
      const { facts } = await require(directory, current, sessionId, "session.content");
      const { ended, elevatedUntil = Number.POSITIVE_INFINITY } = facts;
      const isElevated = readsByElevation(current, "session.content", facts);
      return { ended, until: Math.min(current.expiresAt, isElevated ? elevatedUntil : Infinity) };
    },
  };
}
