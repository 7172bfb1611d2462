import type { BackOff } from "../../client/back-off.ts";
import { ChannelError } from "../../client/errors.ts";
import { Follower } from "../../client/follow.ts";
import type { ServerFrame } from "../../client/frames.ts";
import { openWithHeaders } from "../../client/node-socket.ts";
import { CLOSE } from "../../wire/close-codes.ts";
import { CommandFailure } from "./command-context.ts";
import { EXIT } from "./exit-codes.ts";
import type { UserSession } from "./user-session.ts";

interface ViewerOptions {
  readonly sessionId: string;
  readonly signal: AbortSignal;
  /** Requests all durable events after this one; without it the view begins with a snapshot. */
  readonly fromSeq?: number;
  /** The waits after consecutive connections that brought nothing. */
  readonly backOff?: BackOff;
  /** Receives every frame once; durable ones in order of `seq`. Returning true ends the view. */
  readonly onFrame: (frame: ServerFrame) => boolean;
  readonly onReconnect?: ((reason: string, waitMs: number) => void) | undefined;
}

/** Follows one session for a command, in the name of its user. */
export class LiveViewer {
  readonly #user: UserSession;
  readonly #options: ViewerOptions;

  constructor(user: UserSession, options: ViewerOptions) {
    this.#user = user;
    this.#options = options;
  }

  /**
   * Resolves when `onFrame` returned true or the signal was aborted; throws after a permanent
   * failure.
   */
  async run(): Promise<void> {
    const { fromSeq, onFrame, signal, ...options } = this.#options;
    const { access, api } = this.#user;
    const follower = new Follower(openWithHeaders(api.baseUrl, access), access, {
      ...options,
      signal,
      ...(fromSeq !== undefined && { cursor: { seq: fromSeq } }),
    });
    try {
      for await (const frame of follower) if (onFrame(frame)) return;
    } catch (error) {
      if (signal.aborted) return;
      throw error instanceof ChannelError ? failureOf(error) : error;
    }
  }
}

const EXITS: Readonly<Record<number, number>> = {
  [CLOSE.forbidden]: EXIT.refused,
  [CLOSE.unknownSession]: EXIT.missing,
};

function failureOf(error: ChannelError): CommandFailure {
  const exit = error.isRetryable ? EXIT.unavailable : EXITS[error.closeCode ?? 0];
  return new CommandFailure(error.message, error, exit);
}
