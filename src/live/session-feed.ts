import { backOff } from "../base/back-off.ts";
import { withTimeout } from "../base/deferred.ts";
import { errorMessage, isAppError } from "../base/errors.ts";
import type { Log } from "../base/log.ts";
import type { Runtime } from "../base/runtime.ts";
import type {
  DurableFrame,
  HeartbeatFrame,
  InterimResultsFrame,
  PublishedFrame,
  ServerFrame,
  SessionEnd,
  SessionHeartbeat,
  SnapshotFrame,
} from "../wire/live-frames.ts";
import {
  type EncodedFrame,
  encodeFrame,
  FrameBatch,
  type FrameEncoder,
  isDurable,
  RecentFrames,
} from "./frames.ts";
import type { LiveSource } from "./live-source.ts";
import { TailWatch } from "./tail-watch.ts";

/** Most redactions that are remembered for each followed session. */
const MAX_REDACTIONS = 64;

type Redacted = Extract<DurableFrame, { type: "Redacted" }>;

/**
 * Decides whether hypotheses may still be shown. A host that was cut off or suspended may later
 * send old ones, whose words have since become final or been redacted.
 */
export class InterimThrottle {
  #redactions: Redacted[] = [];
  /** Seconds of the timeline up to which words are final. */
  #finalTo = 0;
  #isDeleted = false;

  /** Must be called with each durable frame, in order, and with heartbeats. */
  note(frame: DurableFrame | HeartbeatFrame): void {
    if (frame.type === "Results")
      this.#finalTo = Math.max(this.#finalTo, frame.start + frame.duration);
    if (frame.type === "Heartbeat") this.#finalTo = Math.max(this.#finalTo, frame.audio_finalised);
    if (frame.type === "Redacted")
      this.#redactions = [...this.#redactions, frame].slice(-MAX_REDACTIONS);
    if (frame.type === "SessionStatus" && frame.status === "deleted") this.close();
  }

  /** Admits nothing from now on, because the session was deleted. */
  close(): void {
    this.#isDeleted = true;
  }

  admits(interim: InterimResultsFrame): boolean {
    if (this.#isDeleted || interim.start + interim.duration <= this.#finalTo) return false;
    return !this.#redactions.some((redacted) => covers(redacted, interim));
  }
}

/** True when the redaction covers the hypothesis, or may cover it, as its speaker is unknown. */
function covers({ span, speaker }: Redacted, interim: InterimResultsFrame): boolean {
  const { start, duration, speaker: by } = interim;
  if (start >= span.end || start + duration <= span.start) return false;
  return speaker === undefined || speaker === by || !/^S\d+$/.test(by);
}

export interface FeedOptions {
  sessionId: string;
  source: LiveSource;
  runtime: Runtime;
  log: Log;
  /**
   * Rest between two deliveries, milliseconds: frames that come in it are sent together at its end.
   * Durable frames only rest after durable ones, so that a hint does not delay a final.
   */
  tickMs: number;
  /** Number of durable frames kept for returning followers. */
  recent: number;
  /** Returns the bytes that these may take now. */
  room?: () => number;
  /** Longest wait for one read of the journal, milliseconds. */
  readTimeoutMs: number;
  /** After this silence of the session its newest event is read from the database, milliseconds. */
  quietMs: number;
  /** JSON by default. */
  encode?: FrameEncoder;
}

/** Receives the frames of a feed. */
export interface FeedListener {
  deliver(frames: readonly EncodedFrame[]): void;
}

const PAGE = 200;
export const MAX_HELD = 1024;
const MAX_REFETCH_FAILURES = 5;
const REFETCH_WAITS = { firstMs: 100 };
const SNAPSHOT_AGE_MS = 2000;

/**
 * One followed session, for all of its viewers in this process: orders published frames, reads lost
 * ones from the journal and encodes every frame once.
 */
export class SessionFeed {
  readonly #options: FeedOptions;
  readonly encode: FrameEncoder;
  readonly #recent: RecentFrames;
  readonly #listeners = new Set<FeedListener>();
  readonly #batch: FrameBatch;
  readonly #throttle = new InterimThrottle();
  readonly #held = new Map<number, DurableFrame>();
  readonly #closing = new AbortController();
  readonly #tail: TailWatch;
  /** The newest seq that is known. */
  #wanted = 0;
  #refetching = false;
  #tick: { at: number; cancel(): void } | undefined;
  #restsUntil = 0;
  #durableRestsUntil = 0;
  #stop: (() => void) | undefined;
  #interim: InterimResultsFrame | undefined;
  #snapshot: { frame: Promise<SnapshotFrame>; at: number } | undefined;
  #ended: { seq: number; encoded: EncodedFrame } | undefined;

  constructor(options: FeedOptions) {
    this.#options = options;
    this.encode = options.encode ?? encodeFrame;
    this.#batch = new FrameBatch(this.encode);
    this.#recent = new RecentFrames(options.recent, options.room ?? (() => Infinity));
    const { sessionId } = options;
    this.#tail = new TailWatch({
      ...options,
      log: options.log.child({ session_id: sessionId }),
      beat: () => this.#beat(),
      onNewest: (seq) => this.#want(seq),
      onBeat: (frame) => this.#take([frame]),
    });
  }

  start(): void {
    const { source, sessionId } = this.#options;
    this.#stop = source.follow(
      sessionId,
      (frames) => {
        this.#tail.heard();
        this.#take(frames);
      },
      () => this.#tail.doubt(),
    );
    this.#tail.start();
  }

  close(): void {
    this.#tail.stop();
    this.#stop?.();
    this.#stop = undefined;
    this.#unschedule();
    this.#closing.abort();
    this.#listeners.clear();
  }

  get sessionId(): string {
    return this.#options.sessionId;
  }

  /** Memory of the frames kept for returning followers, bytes. */
  get recentBytes(): number {
    return this.#recent.bytes;
  }

  /** Number of frames after a gap that wait for the missing ones. */
  get held(): number {
    return this.#held.size;
  }

  /** Number of frames of this tick that may be dropped. */
  get transient(): number {
    return this.#batch.transient;
  }

  get head(): number | undefined {
    return this.#recent.head;
  }

  /** Seq of the newest known durable event, received or not. */
  get newest(): number {
    return Math.max(this.#wanted, this.head ?? 0);
  }

  /** The SessionEnded frame after event `seq`; receivers at the same time share one encoding. */
  ended(status: SessionEnd, seq: number): EncodedFrame {
    if (this.#ended?.seq === seq) return this.#ended.encoded;
    const { sessionId: session_id } = this;
    const encoded = this.encode({ type: "SessionEnded", session_id, status, seq });
    this.#ended = { seq, encoded };
    return encoded;
  }

  add(listener: FeedListener): void {
    this.#listeners.add(listener);
  }

  remove(listener: FeedListener): void {
    this.#listeners.delete(listener);
  }

  /** Durable frames after `position` up to `head`; undefined when the journal must be asked. */
  since(position: number): EncodedFrame[] | undefined {
    return this.#recent.since(position);
  }

  /** Must be called by a subscriber that has read the journal to its end. */
  establish(seq: number): void {
    this.#recent.establish(seq);
    this.#want(this.#wanted);
  }

  /** Waits between two tries of a subscriber. */
  delay(ms: number): Promise<void> {
    return this.#options.runtime.delay(ms);
  }

  async replay(position: number): Promise<EncodedFrame[]> {
    const { source, sessionId, readTimeoutMs, runtime } = this.#options;
    const page = source.replay(sessionId, position, PAGE);
    const frames = await withTimeout(page, readTimeoutMs, "Reading the session's events", runtime);
    return frames.map(this.encode);
  }

  /** When the event of that seq happened, milliseconds since 1970; undefined when there is none. */
  async timeOf(seq: number): Promise<number | undefined> {
    const { source, sessionId, readTimeoutMs, runtime } = this.#options;
    const page = source.replay(sessionId, seq - 1, 1);
    const [frame] = await withTimeout(page, readTimeoutMs, "Reading an event", runtime);
    return frame?.seq === seq ? Date.parse(frame.at) : undefined;
  }

  /** A snapshot of the session; concurrent callers share one read. */
  async snapshot(fresh = false): Promise<{ seq: number; encoded: EncodedFrame }> {
    if (fresh) this.#snapshot = undefined;
    const frame = await this.#readSnapshot();
    const interim = frame.interim ?? this.#interim;
    const whole = interim === undefined ? frame : { ...frame, interim };
    return { seq: frame.seq, encoded: this.encode(whole) };
  }

  async #readSnapshot(): Promise<SnapshotFrame> {
    const { source, sessionId, runtime, readTimeoutMs } = this.#options;
    const now = runtime.monotonic();
    if (this.#snapshot !== undefined && now - this.#snapshot.at < SNAPSHOT_AGE_MS) {
      const frame = await this.#snapshot.frame.catch(() => undefined);
      if (frame !== undefined && frame.seq >= (this.head ?? 0)) return frame;
    }
    const read = source.snapshot(sessionId);
    const frame = withTimeout(read, readTimeoutMs, "Reading the session", runtime);
    this.#snapshot = { frame, at: now };
    return frame;
  }

  async #beat(): Promise<SessionHeartbeat> {
    const { source, sessionId } = this.#options;
    try {
      const beat = await source.beat(sessionId);
      this.#throttle.note(beat.frame);
      return beat;
    } catch (error) {
      if (isAppError(error, "not_found")) this.#throttle.close();
      throw error;
    }
  }

  #take(frames: readonly PublishedFrame[]): void {
    for (const frame of frames) {
      if (frame.type === "Newest") this.#want(frame.seq);
      else if (isDurable(frame)) this.#takeDurable(frame);
      else this.#takeTransient(frame);
    }
    this.#schedule();
  }

  #takeTransient(frame: ServerFrame): void {
    if (frame.type === "Heartbeat") {
      this.#throttle.note(frame);
      this.#want(frame.seq);
    }
    if (frame.type === "Results" && !frame.is_final) {
      if (!this.#throttle.admits(frame)) return;
      this.#interim = frame;
    }
    this.#batch.addTransient(frame);
  }

  #takeDurable(frame: DurableFrame): void {
    const head = this.head;
    if (head === undefined || frame.seq === head + 1) return this.#append(frame);
    if (frame.seq <= head) return;
    if (this.#held.size < MAX_HELD) this.#held.set(frame.seq, frame);
    this.#want(frame.seq);
  }

  #append(frame: DurableFrame): void {
    this.#throttle.note(frame);
    if (withdrawsWords(frame)) {
      this.#recent.forget();
      this.#snapshot = undefined;
    }
    this.#batch.withdraw((interim) => !this.#throttle.admits(interim));
    if (this.#interim !== undefined && !this.#throttle.admits(this.#interim))
      this.#interim = undefined;
    if (frame.type === "Results" && this.#interim?.segment_id === frame.segment_id) {
      this.#interim = undefined;
    }
    const encoded = this.encode(frame);
    this.#recent.push(frame.seq, encoded);
    this.#batch.addDurable(encoded, frame.type === "Results" ? frame.segment_id : undefined);
    this.#wanted = Math.max(this.#wanted, frame.seq);
  }

  #appendHeld(): void {
    for (let head = this.head; head !== undefined; head = this.head) {
      const next = this.#held.get(head + 1);
      if (next === undefined) break;
      this.#held.delete(head + 1);
      this.#append(next);
    }
    for (const seq of this.#held.keys()) if (seq <= (this.head ?? 0)) this.#held.delete(seq);
  }

  /** Notes that event `seq` exists, and reads missing events from the journal. */
  #want(seq: number): void {
    this.#wanted = Math.max(this.#wanted, seq);
    if (this.#refetching || this.head === undefined || this.#wanted <= this.head) return;
    this.#refetching = true;
    void this.#refetch().finally(() => {
      this.#refetching = false;
    });
  }

  async #refetch(): Promise<void> {
    const { source, sessionId, log, readTimeoutMs, runtime } = this.#options;
    let failures = 0;
    while (!this.#closing.signal.aborted && (this.head ?? 0) < this.#wanted) {
      try {
        const read = source.replay(sessionId, this.head ?? 0, PAGE);
        const page = await withTimeout(read, readTimeoutMs, "Fetching lost events", runtime);
        for (const frame of page) if (frame.seq === (this.head ?? 0) + 1) this.#append(frame);
        this.#appendHeld();
        this.#flush();
        if (page.length > 0) continue;
      } catch (error) {
        log.warn({ session_id: sessionId, error: errorMessage(error) }, "refetch failed");
      }
      failures += 1;
      if (failures > MAX_REFETCH_FAILURES) return this.#giveUp();
      await runtime.delay(backOff(failures, REFETCH_WAITS), this.#closing.signal);
    }
  }

  /** Stops the reads; the next heartbeat or frame tries again. */
  #giveUp(): void {
    this.#held.clear();
    this.#wanted = this.head ?? 0;
  }

  /** Sends at once after a rest, so that a single word does not wait for a tick. */
  #schedule(): void {
    if (this.#batch.empty) return;
    const at = this.#batch.hasDurable ? this.#durableRestsUntil : this.#restsUntil;
    if (this.#tick !== undefined && this.#tick.at <= at) return;
    this.#unschedule();
    const { runtime } = this.#options;
    const rest = at - runtime.monotonic();
    // A timer of 0 ms would take a millisecond, and sleep while others want the core.
    const flush = () => this.#flush();
    const timer = rest <= 0 ? runtime.soon(flush) : runtime.after(rest, flush);
    this.#tick = { at, cancel: () => timer.cancel() };
  }

  #unschedule(): void {
    this.#tick?.cancel();
    this.#tick = undefined;
  }

  #flush(): void {
    this.#unschedule();
    const { hasDurable } = this.#batch;
    const frames = this.#batch.take();
    if (frames.length === 0) return;
    for (const listener of this.#listeners) listener.deliver(frames);
    this.#restsUntil = this.#options.runtime.monotonic() + this.#options.tickMs;
    if (hasDurable) this.#durableRestsUntil = this.#restsUntil;
  }
}

/** True when earlier frames may hold words that must not be shown after this one. */
function withdrawsWords(frame: DurableFrame): boolean {
  if (frame.type === "SessionStatus") return frame.status === "deleted";
  const type: string = frame.type;
  return type === "TranscriptReplaced" || type === "Redacted";
}
