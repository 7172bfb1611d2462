import type { DurableTurn, Effects } from "../actor/actor.ts";
import { errorMessage } from "../base/errors.ts";
import type { Log } from "../base/log.ts";
import type { LiveFanout } from "../nats/live-fanout.ts";
import type { SessionEvent } from "../session/event.ts";
import { REDACTED_SPAN } from "../session/redaction.ts";
import type { SessionState } from "../session/state.ts";
import type { SegmentText, SegmentWords, SessionWrite } from "../session/write.ts";
import type { PublishedFrame, TransientFrame } from "../wire/live-frames.ts";
import { renderFrames } from "./render.ts";

type Turn = DurableTurn<SessionState, SessionEvent, SessionWrite>;

interface TurnPublisherOptions {
  sessionId: string;
  fanout: Pick<LiveFanout, "publish" | "isFollowed">;
  log: Log;
}

/** Events whose frames hold names or texts that a turn does not contain. */
const NEEDS_LOOK_UP: ReadonlySet<SessionEvent["type"]> = new Set<SessionEvent["type"]>([
  "SpeakerClaimed",
  "SpeakerNamed",
  "GuestJoined",
  "SegmentRevised",
]);

/**
 * Events whose frames are always published: a connection that streams to the session does not read
 * the journal, and must know at once that the session is over.
 */
const CHANGES_STATUS: ReadonlySet<SessionEvent["type"]> = new Set<SessionEvent["type"]>([
  "SessionStopped",
  "SessionCompleted",
  "SessionFailed",
]);

/**
 * Publishes durable turns to the followers of a session, in order and rendered as in a replay, and
 * transient frames. Neither throws nor waits.
 */
export class TurnPublisher implements Effects<SessionState, SessionEvent, SessionWrite> {
  readonly #options: TurnPublisherOptions;

  constructor(options: TurnPublisherOptions) {
    this.#options = options;
  }

  /** Publishes a frame to current followers; it is not stored. */
  transient(frame: TransientFrame): void {
    const { fanout, sessionId } = this.#options;
    if (fanout.isFollowed(sessionId)) this.#publish(() => [frame]);
  }

  start(): void {}

  /**
   * Publishes a turn. For events whose content the turn does not hold, followers only receive the
   * newest seq and read the journal; so do followers that are not known here yet.
   */
  after({ events, writes }: Pick<Turn, "events" | "writes">): void {
    const { fanout, sessionId } = this.#options;
    const isFollowed = fanout.isFollowed(sessionId);
    const whole = events.filter(({ event: { type } }) =>
      isFollowed ? !NEEDS_LOOK_UP.has(type) : CHANGES_STATUS.has(type),
    );
    const seq = events.at(-1)?.seq;
    this.#publish(() => {
      const frames = renderFrames(sessionId, whole, wordsOf(writes), new Map());
      if (seq === undefined || whole.length === events.length) return frames;
      return [...frames, { type: "Newest", session_id: sessionId, seq }];
    });
  }

  busy(): boolean {
    return false;
  }

  /** Does nothing; a turn that becomes durable after this is still published. */
  async stop(): Promise<void> {}

  /** Publishes frames; followers notice frames that could not be sent as a gap. */
  #publish(frames: () => PublishedFrame[]): void {
    const { fanout, log, sessionId } = this.#options;
    try {
      fanout.publish(sessionId, frames());
    } catch (error) {
      const fields = { session_id: sessionId, error: errorMessage(error) };
      log.warn(fields, "live frames not published");
    }
  }
}

function wordsOf(writes: readonly SessionWrite[]): Map<string, SegmentWords> {
  const segments = writes.filter((write): write is SegmentText => write.type === "SegmentText");
  return new Map(
    segments.map(({ segmentId, words, confidence, redacted }) => [
      segmentId,
      redacted
        ? { words: [], text: REDACTED_SPAN, confidence, revision: 1 }
        : { words, text: words.map((word) => word.text).join(" "), confidence, revision: 1 },
    ]),
  );
}
