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

/** Their frames hold names or texts that no turn carries. */
const NEEDS_LOOK_UP: ReadonlySet<SessionEvent["type"]> = new Set<SessionEvent["type"]>([
  "SpeakerClaimed",
  "SegmentRevised",
]);

/** Who streams to the session reads no journal, and has to know at once that it is over. */
const TELLS_STATUS: ReadonlySet<SessionEvent["type"]> = new Set<SessionEvent["type"]>([
  "SessionStopped",
  "SessionCompleted",
  "SessionFailed",
]);

/**
 * Shows the followers of a session what became durable, in order and by the same rendering as a
 * replay, and what is to be seen at the moment. Neither throws nor waits.
 */
export class TurnPublisher implements Effects<SessionState, SessionEvent, SessionWrite> {
  readonly #options: TurnPublisherOptions;

  constructor(options: TurnPublisherOptions) {
    this.#options = options;
  }

  /** Shown to those who follow now, and kept for nobody. */
  transient(frame: TransientFrame): void {
    const { fanout, sessionId } = this.#options;
    if (fanout.isFollowed(sessionId)) this.#publish(() => [frame]);
  }

  start(): void {}

  /**
   * Of what a turn does not hold itself followers are told that it is there, and read the journal;
   * so is one who has just begun to follow, of whom it is not known here yet.
   */
  after({ events, writes }: Pick<Turn, "events" | "writes">): void {
    const { fanout, sessionId } = this.#options;
    const isFollowed = fanout.isFollowed(sessionId);
    const whole = events.filter(({ event: { type } }) =>
      isFollowed ? !NEEDS_LOOK_UP.has(type) : TELLS_STATUS.has(type),
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

  /** Nothing is open; a turn that is durable only after this is still shown. */
  async stop(): Promise<void> {}

  /** Frames that could not be sent show as a gap, too. */
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
