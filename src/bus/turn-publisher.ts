import type { DurableTurn } from "../actor/behaviour.ts";
import { errorMessage } from "../base/errors.ts";
import type { Log } from "../base/log.ts";
import { longest, type QueueFigures, type QueueOwner } from "../base/queue-metrics.ts";
import type { SessionEvent } from "../session/event.ts";
import { REDACTED_SPAN } from "../session/placeholders.ts";
import type { SessionState } from "../session/state.ts";
import type { SegmentText, SessionWrite, Word } from "../session/write.ts";
import type { DurableFrame, TransientFrame } from "../wire/live-frames.ts";
import type { LiveFanout } from "./live-fanout.ts";

type Turn = DurableTurn<SessionState, SessionEvent, SessionWrite>;

export interface TurnWords {
  words: readonly Word[];
  text: string;
  confidence: number;
  revision: number;
}

export interface TurnPublisherParts {
  fanout: LiveFanout;
  log: Log;
  /** The same rendering as for a replay. */
  render(
    sessionId: string,
    events: Turn["events"],
    words: ReadonlyMap<string, TurnWords>,
    names: ReadonlyMap<string, string>,
  ): DurableFrame[];
  /** The same, with words and names looked up that the turn does not hold. */
  lookUp(sessionId: string, events: Turn["events"]): Promise<DurableFrame[]>;
}

/** Turns and frames of a session that may wait for one before them; fronts notice what is dropped. */
const MAX_WAITING = 1_000;

/** Their frames hold names or texts that no turn carries. */
const NEEDS_LOOK_UP: ReadonlySet<SessionEvent["type"]> = new Set<SessionEvent["type"]>([
  "SpeakerClaimed",
  "SegmentRevised",
]);

/**
 * Shows viewers what became durable, in order. A name that must be looked up
 * first holds back what comes after it in the same session.
 */
export class TurnPublisher implements QueueOwner {
  readonly #parts: TurnPublisherParts;
  readonly #chains = new Map<string, { last: Promise<void>; waiting: number }>();
  #dropped = 0;

  constructor(parts: TurnPublisherParts) {
    this.#parts = parts;
  }

  get queues(): readonly QueueFigures[] {
    const length = longest([...this.#chains.values()].map(({ waiting }) => waiting));
    return [{ queue: "frames_in_order", length, limit: MAX_WAITING, refused: this.#dropped }];
  }

  transient(sessionId: string, frame: TransientFrame): void {
    this.#inOrder(sessionId, async () => this.#parts.fanout.publish(sessionId, [frame]), false);
  }

  turn(sessionId: string, turn: Turn): void {
    if (turn.events.length === 0) return;
    const { render, lookUp, fanout } = this.#parts;
    const waits = turn.events.some(({ event }) => NEEDS_LOOK_UP.has(event.type));
    const words = wordsOf(turn.writes);
    const publish = async (): Promise<void> => {
      const frames = waits
        ? await lookUp(sessionId, turn.events)
        : render(sessionId, turn.events, words, new Map());
      fanout.publish(sessionId, frames);
    };
    this.#inOrder(sessionId, publish, waits);
  }

  /** Runs at once unless something of the session still waits. */
  #inOrder(sessionId: string, work: () => Promise<void>, waits: boolean): void {
    const chain = this.#chains.get(sessionId) ?? { last: Promise.resolve(), waiting: 0 };
    if (chain.waiting === 0 && !waits) {
      void this.#guarded(sessionId, work);
      return;
    }
    if (chain.waiting >= MAX_WAITING) {
      this.#dropped += 1;
      return;
    }
    chain.waiting += 1;
    this.#chains.set(sessionId, chain);
    chain.last = chain.last
      .then(() => this.#guarded(sessionId, work))
      .then(() => {
        chain.waiting -= 1;
        if (chain.waiting === 0) this.#chains.delete(sessionId);
      });
  }

  /** A frame that could not be sent shows as a gap, and fronts read the journal. */
  async #guarded(sessionId: string, work: () => Promise<void>): Promise<void> {
    try {
      await work();
    } catch (error) {
      const fields = { session_id: sessionId, error: errorMessage(error) };
      this.#parts.log.warn(fields, "live frames not published");
    }
  }
}

function wordsOf(writes: readonly SessionWrite[]): Map<string, TurnWords> {
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
