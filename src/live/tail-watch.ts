import { backOff } from "../base/back-off.ts";
import { withTimeout } from "../base/deferred.ts";
import { toAppError } from "../base/errors.ts";
import type { Log } from "../base/log.ts";
import type { Runtime, Timer } from "../base/runtime.ts";
import type { HeartbeatFrame, SessionHeartbeat } from "../wire/live-frames.ts";

interface TailWatchOptions {
  /** Reads what the record says; rejects with `not_found` when there is no such session any more. */
  readonly beat: () => Promise<SessionHeartbeat>;
  /** There is an event of this `seq`. */
  readonly onNewest: (seq: number) => void;
  /** Takes the heartbeat that stands in for the silent actor's own. */
  readonly onBeat: (frame: HeartbeatFrame) => void;
  readonly runtime: Runtime;
  readonly log: Log;
  /** Silence after which the record is asked, milliseconds. */
  readonly quietMs: number;
  readonly readTimeoutMs: number;
}

const FIRST_RETRY_MS = 500;
/** In a session that is over next to nothing happens: the record is asked once in so many silences. */
const SILENCES_AFTER_END = 20;

/**
 * A lost event shows by the next one or by the actor's heartbeat; the last ones before an actor
 * falls silent would be missed for ever. So the record is asked when nothing is heard, and when
 * what was heard is in doubt. It also gives the viewers of a silent session a sign of life.
 */
export class TailWatch {
  readonly #options: TailWatchOptions;
  #timer: Timer | undefined;
  #heardAt: number;
  /** Questions in a row that failed. */
  #failures = 0;
  #asking = false;
  #inDoubt = false;
  #stopped = false;
  /** What the record said of the session's end, and for how many silences more it need not be asked. */
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

  /** Something may have been missed up to now. */
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

  /** Milliseconds until nothing will have been heard for long enough. */
  #quietIn(): number {
    const { runtime, quietMs } = this.#options;
    return this.#heardAt + quietMs - runtime.monotonic();
  }

  /** One question at a time; a doubt that comes meanwhile asks once more. */
  async #ask(): Promise<void> {
    if (this.#asking || this.#stopped) return;
    this.#asking = true;
    this.#inDoubt = false;
    const answer = await this.#askOnce();
    this.#asking = false;
    if (answer === "gone") return;
    if (answer === "told") {
      this.#failures = 0;
      return this.#wake(this.#inDoubt ? 0 : this.#quietIn());
    }
    this.#inDoubt = true;
    this.#failures += 1;
    this.#wake(backOff(this.#failures, { firstMs: FIRST_RETRY_MS, mostMs: this.#options.quietMs }));
  }

  async #askOnce(): Promise<"told" | "failed" | "gone"> {
    const { beat, onNewest, log, readTimeoutMs, runtime } = this.#options;
    try {
      const what = "Reading how the session stands";
      const { frame, isOver } = await withTimeout(beat(), readTimeoutMs, what, runtime);
      if (this.#stopped) return "gone";
      onNewest(frame.seq);
      this.#ended = isOver ? { frame, silences: SILENCES_AFTER_END } : undefined;
      // While the actor beats, it knows better.
      if (this.#quietIn() <= 0) this.#beatFor(frame);
      return "told";
    } catch (thrown) {
      const error = toAppError(thrown);
      // Whoever still follows it is told by the check of rights.
      if (error.code === "not_found") return "gone";
      log.warn({ code: error.code, error: error.message }, "session's tail not readable");
      return "failed";
    }
  }
}
