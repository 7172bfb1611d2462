import { delay } from "../base/deferred.ts";
import { AppError, toAppError } from "../base/errors.ts";
import type { LanguageModelStatus } from "../wire/language-model.ts";
import type { Placement } from "./placement.ts";
import type { StreamingMethod, WorkerClient } from "./worker-client.ts";

const ATTEMPTS = 5;
/** First wait for a busy worker, milliseconds; grows with each attempt. */
const BUSY_MS = 150;
/**
 * How long a call waits for a worker that nobody hears of: one that starts again, or whose
 * announcements are late on a busy machine. Milliseconds.
 */
const ABSENT_MS = 3_000;
const POLL_MS = 100;

export interface WorkerCallsOptions {
  placement: Pick<Placement, "pickForText" | "failed" | "succeeded">;
  client: Pick<WorkerClient, "stream" | "close">;
  /** The workers' service key, when they have one. */
  key: string | undefined;
  /** How long a call waits for a worker when none is heard of, milliseconds. */
  absentMs?: number;
}

interface WorkerCall<A> {
  deadlineMs: number;
  signal: AbortSignal;
  onMessage: (message: A) => void;
  /** Called each time that a worker has begun with it. */
  onBegun?: () => void;
  /** What a worker is wanted for, at the end of "No worker is running that could …". */
  purpose: string;
  /** How often it is tried, 5 times unless told. */
  attempts?: number;
  /** Only workers whose language model suits. */
  suits?: ((model: LanguageModelStatus) => boolean) | undefined;
}

/**
 * Calls that change nothing, of the least busy worker, and of another one when that is lost or busy.
 */
export class WorkerCalls {
  readonly #options: WorkerCallsOptions;
  readonly #absentMs: number;

  constructor(options: WorkerCallsOptions) {
    this.#options = options;
    this.#absentMs = options.absentMs ?? ABSENT_MS;
  }

  /**
   * Rejects with `unavailable` when no worker is running, `overloaded` or `timeout`, which may be
   * retried, always within a few seconds beside the deadline, and when `signal` aborts. After a
   * failure the messages begin anew.
   */
  async call<Q, A>(method: StreamingMethod<Q, A>, request: Q, call: WorkerCall<A>): Promise<void> {
    const { placement, client, key } = this.#options;
    const { signal, attempts = ATTEMPTS } = call;
    const pickedBy = performance.now() + this.#absentMs;
    let failure: AppError | undefined;
    for (let attempt = 1; ; attempt += 1) {
      const address = await this.#pick(pickedBy, call);
      if (address === undefined) throw failure ?? nobodyFor(call.purpose);
      try {
        await client.stream(address, method, request, { key, ...call });
        placement.succeeded(address, "text");
        return;
      } catch (cause) {
        const error = toAppError(cause);
        if (signal.aborted || !isWorkers(error)) throw error;
        if (error.code === "unavailable") placement.failed(address, "text");
        if (attempt === attempts) throw error;
        failure = error;
        if (error.code === "unavailable") continue;
        await delay(BUSY_MS * attempt * (0.5 + Math.random()), signal);
      }
    }
  }

  /** Undefined when there is none until then. */
  async #pick(
    pickedBy: number,
    { suits, signal }: Pick<WorkerCall<never>, "suits" | "signal">,
  ): Promise<string | undefined> {
    for (;;) {
      const address = this.#options.placement.pickForText(
        suits && (({ language_model: model }) => model !== undefined && suits(model)),
      );
      if (address !== undefined) return address;
      if (signal.aborted || performance.now() >= pickedBy) return undefined;
      await delay(POLL_MS, signal);
    }
  }
}

function nobodyFor(purpose: string): AppError {
  return new AppError("unavailable", `No worker is running that could ${purpose}.`, {
    retryAfter: 5,
  });
}

/** True for failures of a worker, after which another one may be asked. */
function isWorkers({ code }: AppError): boolean {
  return code === "unavailable" || code === "overloaded";
}
