import { createDeferred, type Deferred, withTimeout } from "../../base/deferred.ts";
import type { Runtime } from "../../base/runtime.ts";
import type { FeedRegistry } from "../../live/feed-registry.ts";
import type { EncodedFrame } from "../../live/frames.ts";
import { type FrameSink, Subscriber } from "../../live/subscriber.ts";
import type { ServerFrame } from "../../wire/live-frames.ts";
import type { LiveLimits } from "./live-limits.ts";
import type { Connection } from "./live-socket.ts";
import type { ReplayBudget } from "./replay-budget.ts";

/** Frames of words and of whose they are; none contains the name of a person. */
const WORDS: ReadonlySet<ServerFrame["type"]> = new Set<ServerFrame["type"]>([
  "Results",
  "SegmentRevised",
  "TranscriptReplaced",
  "SpeakerRevision",
  "Redacted",
]);

export interface DeviceTranscriptOptions {
  feeds: Pick<FeedRegistry, "acquire" | "release">;
  replays: Pick<ReplayBudget, "turn">;
  limits: LiveLimits;
  runtime: Runtime;
}

export interface Reader {
  deviceId: string;
  sessionId: string;
  connection: Connection;
  /** Ends the device's socket, which does not read. */
  onSlow(): void;
}

/**
 * What a device reads of the session that it records: every durable event of words after a seq, once
 * and in order, and hypotheses as they come. Nothing waits for it beyond what its socket holds.
 */
export class DeviceTranscript implements FrameSink {
  readonly #options: DeviceTranscriptOptions;
  readonly #reader: Reader;
  readonly #subscriber: Subscriber;
  #room: Deferred<void> | undefined;
  #isOpen = true;

  constructor(options: DeviceTranscriptOptions, reader: Reader) {
    this.#options = options;
    this.#reader = reader;
    this.#subscriber = new Subscriber(options.feeds.acquire(reader.sessionId), this);
  }

  /** Resolves when all before now was sent, or it was stopped; rejects when it cannot be read. */
  start(fromSeq: number): Promise<void> {
    return this.#subscriber.start({ seq: fromSeq });
  }

  stop(): void {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    this.#subscriber.stop();
    this.#options.feeds.release(this.#reader.sessionId);
    this.drained();
  }

  send(frames: readonly EncodedFrame[]): boolean {
    if (!this.#isOpen) return false;
    const { connection } = this.#reader;
    const words = frames.filter(({ type }) => WORDS.has(type));
    if (words.length === 0) return true;
    const hasRoom = connection.bufferedBytes() <= this.#options.limits.bufferedBytes;
    if (hasRoom && connection.send(words)) return true;
    this.#reader.onSlow();
    return false;
  }

  async roomForPage(): Promise<boolean> {
    const { limits, replays, runtime } = this.#options;
    if (!(await replays.turn(this.#reader.deviceId, () => !this.#isOpen))) return false;
    if (!this.#isOpen || this.#isRoomy()) return this.#isOpen;
    this.#room = createDeferred<void>();
    const { promise } = this.#room;
    try {
      await withTimeout(promise, limits.drainTimeoutMs, "Waiting for the device", runtime);
    } catch {
      this.#reader.onSlow();
    }
    return this.#isOpen;
  }

  /** The transport has written some of the waiting bytes, or will write no more. */
  drained(): void {
    if (this.#isOpen && !this.#isRoomy()) return;
    this.#room?.resolve();
    this.#room = undefined;
  }

  #isRoomy(): boolean {
    return this.#reader.connection.bufferedBytes() <= this.#options.limits.bufferedBytes / 4;
  }
}
