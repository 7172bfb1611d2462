import { SESSION_RATE } from "../base/audio/sample-rate.ts";
import { backOff } from "../base/back-off.ts";
import { errorMessage } from "../base/errors.ts";
import type { Log } from "../base/log.ts";
import type { Runtime, Timer } from "../base/runtime.ts";
import type { SessionCommand } from "../session/command.ts";
import type { SessionState } from "../session/state.ts";
import { measurable } from "../session/timeline.ts";

export type MeasurePart = (
  sessionId: string,
  sequence: number,
) => Promise<
  { frames: number; sampleRate: number; unreadable?: string; damaged?: true } | undefined
>;

interface PartMeasuringOptions {
  sessionId: string;
  measure?: MeasurePart;
  notify(command: SessionCommand): boolean;
  runtime: Pick<Runtime, "after">;
  log: Log;
}

const RETRIES = { firstMs: 500, mostMs: 30_000 };
const HEADLESS =
  "The beginning of the recording, without which this part cannot be read, is missing.";

/**
 * Finds out how long parts of a stream are that came before the part before them, one after the
 * other, as soon as nothing before them is awaited any more.
 */
export class PartMeasuring {
  readonly #options: PartMeasuringOptions;
  #isBusy = false;
  #retries = 0;
  #retryAt: Timer | undefined;
  /** What the session had when a part was found to lack its beginning. */
  #waitsWith: string | undefined;
  #state: Readonly<SessionState> | undefined;
  #stopped = false;

  constructor(options: PartMeasuringOptions) {
    this.#options = options;
  }

  /** Measures what the state asks for, unless that is under way. */
  sync(state: Readonly<SessionState>): void {
    this.#state = state;
    const part = measurable(state.timeline);
    const { measure } = this.#options;
    if (part === undefined || measure === undefined || this.#isBusy || this.#stopped) return;
    if (this.#retryAt !== undefined || this.#waitsWith === shapeOf(state)) return;
    this.#isBusy = true;
    void this.#measure(measure, part.sequence).then(() => {
      this.#isBusy = false;
      if (this.#state !== undefined) this.sync(this.#state);
    });
  }

  stop(): void {
    this.#stopped = true;
    this.#retryAt?.cancel();
  }

  async #measure(measure: MeasurePart, sequence: number): Promise<void> {
    const { sessionId, log, runtime } = this.#options;
    const shape = this.#state && shapeOf(this.#state);
    try {
      const measured = await measure(sessionId, sequence);
      this.#retries = 0;
      const timeline = this.#state?.timeline;
      if (this.#stopped || timeline === undefined) return;
      // As long as nothing has a place, its beginning may still come.
      this.#waitsWith = shape;
      if (measured === undefined && timeline.nominal === 0) return;
      const lost = { frames: 0, sampleRate: SESSION_RATE, unreadable: HEADLESS };
      this.#options.notify({ type: "ChunkMeasured", sequence, ...(measured ?? lost) });
    } catch (error) {
      this.#retries += 1;
      log.warn({ sequence, error: errorMessage(error) }, "a part could not be measured yet");
      this.#retryAt = runtime.after(backOff(this.#retries, RETRIES), () => {
        this.#retryAt = undefined;
        if (this.#state !== undefined) this.sync(this.#state);
      });
    }
  }
}

/** Changes with every chunk that comes, is measured, or gets a place. */
function shapeOf({ timeline }: Readonly<SessionState>): string {
  const { next, waiting, unmeasured = [], gaps } = timeline;
  return [next, waiting.length, gaps.length, ...unmeasured.map((each) => each.sequence)].join(" ");
}
