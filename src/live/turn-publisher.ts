import type { DurableTurn } from "../actor/actor.ts";
import { errorMessage } from "../base/errors.ts";
import type { Log } from "../base/log.ts";
import type { LiveFanout } from "../nats/live-fanout.ts";
import type { SessionEvent } from "../session/event.ts";
import { REDACTED_SPAN } from "../session/redaction.ts";
import type { SessionState } from "../session/state.ts";
import type { SegmentText, SegmentWords, SessionWrite } from "../session/write.ts";
import type { DurableFrame, PublishedFrame, TransientFrame } from "../wire/live-frames.ts";

type Turn = DurableTurn<SessionState, SessionEvent, SessionWrite>;

interface TurnPublisherOptions {
  fanout: Pick<LiveFanout, "publish" | "isFollowed">;
  log: Log;
  /** The same rendering as for a replay. */
  render(
    sessionId: string,
    events: Turn["events"],
    words: ReadonlyMap<string, SegmentWords>,
    names: ReadonlyMap<string, string>,
  ): DurableFrame[];
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

/** Shows followers what became durable, in order. Neither throws nor waits. */
export class TurnPublisher {
  readonly #options: TurnPublisherOptions;

  constructor(options: TurnPublisherOptions) {
    this.#options = options;
  }

  /** Shown to those who follow now, and kept for nobody. */
  transient(sessionId: string, frame: TransientFrame): void {
    if (this.#options.fanout.isFollowed(sessionId)) this.#publish(sessionId, () => [frame]);
  }

  /**
   * Of what a turn does not hold itself followers are told that it is there, and read the journal;
   * so is one who has just begun to follow, of whom it is not known here yet.
   */
  turn(sessionId: string, { events, writes }: Pick<Turn, "events" | "writes">): void {
    const { render, fanout } = this.#options;
    const isFollowed = fanout.isFollowed(sessionId);
    const whole = events.filter(({ event: { type } }) =>
      isFollowed ? !NEEDS_LOOK_UP.has(type) : TELLS_STATUS.has(type),
    );
    const seq = events.at(-1)?.seq;
    this.#publish(sessionId, () => {
      const frames = render(sessionId, whole, wordsOf(writes), new Map());
      if (seq === undefined || whole.length === events.length) return frames;
      return [...frames, { type: "Newest", session_id: sessionId, seq }];
    });
  }

  /** Frames that could not be sent show as a gap, too. */
  #publish(sessionId: string, frames: () => PublishedFrame[]): void {
    const { fanout, log } = this.#options;
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
