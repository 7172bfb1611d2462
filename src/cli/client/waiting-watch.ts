import type { operations } from "../gen/api-schema.ts";
import type { UserSession } from "./user-session.ts";

const EVERY_MS = 2_000;

type Session = operations["getSession"]["responses"]["200"]["content"]["application/json"];

interface WaitingWatchOptions {
  readonly sessionId: string;
  /** Whether there is anything to ask: nothing is waited for but after the stop. */
  readonly isStopped: () => boolean;
  /** Told whenever other chunks are waited for than before. */
  readonly onWaiting?: ((message: string) => void) | undefined;
}

/** What a stopped session waits for, so that nobody takes it for stuck. */
export class WaitingWatch {
  readonly #user: Pick<UserSession, "call">;
  readonly #options: WaitingWatchOptions;
  readonly #timer: NodeJS.Timeout;
  #waiting: Session["waiting"];
  #asking = false;

  constructor(user: Pick<UserSession, "call">, options: WaitingWatchOptions) {
    this.#user = user;
    this.#options = options;
    this.#timer = setInterval(() => void this.#look(), EVERY_MS);
  }

  get message(): string | undefined {
    return this.#options.isStopped() ? this.#waiting?.message : undefined;
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  async #look(): Promise<void> {
    if (this.#asking || !this.#options.isStopped()) return;
    this.#asking = true;
    const params = { path: { session_id: this.#options.sessionId } };
    try {
      const before = String(this.#waiting?.chunk_sequences);
      const { waiting } = await this.#user.call((client) =>
        client.GET("/sessions/{session_id}", { params }),
      );
      this.#waiting = waiting;
      if (waiting === undefined || String(waiting.chunk_sequences) === before) return;
      this.#options.onWaiting?.(waiting.message);
    } catch {
      // The transcript itself tells when the service is away.
    } finally {
      this.#asking = false;
    }
  }
}
