import { backOff } from "../base/back-off.ts";
import { withTimeout } from "../base/deferred.ts";
import { toAppError } from "../base/errors.ts";
import type { Log } from "../base/log.ts";
import type { Runtime, Timer } from "../base/runtime.ts";
import type { HeartbeatFrame, SessionHeartbeat } from "../wire/live-frames.ts";

interface TailWatchOptions {
  /**
   * Reads a heartbeat from the database; rejects with `not_found` when the session no longer
   * exists.
   */
  readonly beat: () => Promise<SessionHeartbeat>;
  /** Called when an event with this `seq` exists. */
  readonly onNewest: (seq: number) => void;
  /** Called with a heartbeat in place of the silent actor's own. */
  readonly onBeat: (frame: HeartbeatFrame) => void;
  readonly runtime: Runtime;
  readonly log: Log;
  /** Silence after which the database is read, milliseconds. */
  readonly quietMs: number;
  readonly readTimeoutMs: number;
}

const FIRST_RETRY_MS = 500;
/**
 * In a session that is over almost nothing happens: the database is read once in this many
 * silences.
 */
const SILENCES_AFTER_END = 20;

/**
 * Finds lost events at the end of a session. Other lost events show by the next event or by the
 * actor's heartbeat, but the last ones before an actor falls silent would never be missed. So the
 * database is read when nothing is received, and when frames may have been lost. This also gives
 * the viewers of a silent session a heartbeat.
 */
export class TailWatch {
  readonly #options: TailWatchOptions;
  #timer: Timer | undefined;
  #heardAt: number;
  /** Reads in a row that failed. */
  #failures = 0;
  #asking = false;
  #inDoubt = false;
  #stopped = false;
  /**
   * The heartbeat of an ended session, and for how many silences it is reused before the next read.
   */
  #ended: { frame: HeartbeatFrame; silences: number } | undefined;

  constructor(options: TailWatchOptions) {
    this.#options = options;
    this.#heardAt = options.runtime.monotonic();
  }

  start(): void {
    this.#wake(this.#options.quietMs);
  }

  stop(): void {
    this.#stopped = true;
    this.#timer?.cancel();
  }

  heard(): void {
    this.#heardAt = this.#options.runtime.monotonic();
    this.#ended = undefined;
  }

  /** Notes that frames may have been missed, and reads the database. */
  doubt(): void {
    this.#inDoubt = true;
    void this.#ask();
  }

  #wake(ms: number): void {
    if (this.#stopped) return;
    this.#timer?.cancel();
    this.#timer = this.#options.runtime.after(ms, () => this.#look());
  }

  #look(): void {
    const left = this.#quietIn();
    if (left > 0 && !this.#inDoubt) return this.#wake(left);
    const ended = this.#ended;
    if (this.#inDoubt || ended === undefined || ended.silences <= 0) return void this.#ask();
    ended.silences -= 1;
    this.#beatFor(ended.frame);
    this.#wake(this.#quietIn());
  }

  #beatFor(frame: HeartbeatFrame): void {
    this.#options.onBeat(frame);
    this.#heardAt = this.#options.runtime.monotonic();
  }

  /** Milliseconds until the silence is long enough for a read. */
  #quietIn(): number {
    const { runtime, quietMs } = this.#options;
    return this.#heardAt + quietMs - runtime.monotonic();
  }

  /** Reads the database, once at a time; a doubt that comes meanwhile causes another read. */
  async #ask(): Promise<void> {
    if (this.#asking || this.#stopped) return;
    this.#asking = true;
    this.#inDoubt = false;
    const answer = await this.#askOnce();
    this.#asking = false;
    if (answer === "gone") return;
    if (answer === "answered") {
      this.#failures = 0;
      return this.#wake(this.#inDoubt ? 0 : this.#quietIn());
    }
    this.#inDoubt = true;
    this.#failures += 1;
    this.#wake(backOff(this.#failures, { firstMs: FIRST_RETRY_MS, mostMs: this.#options.quietMs }));
  }

  async #askOnce(): Promise<"answered" | "failed" | "gone"> {
    const { beat, onNewest, log, readTimeoutMs, runtime } = this.#options;
    try {
      const what = "Reading how the session stands";
      const { frame, isOver } = await withTimeout(beat(), readTimeoutMs, what, runtime);
      if (this.#stopped) return "gone";
      onNewest(frame.seq);
      this.#ended = isOver ? { frame, silences: SILENCES_AFTER_END } : undefined;
      // While the actor sends heartbeats, they are more exact.
      if (this.#quietIn() <= 0) this.#beatFor(frame);
      return "answered";
    } catch (thrown) {
      const error = toAppError(thrown);
      // The check of rights notifies the followers that remain.
      if (error.code === "not_found") return "gone";
      log.warn({ code: error.code, error: error.message }, "session's tail not readable");
      return "failed";
    }
  }
}
