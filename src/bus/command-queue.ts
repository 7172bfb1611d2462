import { AppError } from "../base/errors.ts";

/** Commands of one partition that are under way at once; the others are held back. */
export const MAX_UNDER_WAY = 256;

/** Milliseconds after which a command that nobody answered for comes again. */
export const ACK_WAIT = 30_000;

/** Port: commands under way to the owner of their partition, each at least once or never. */
export interface CommandQueue {
  /**
   * Settles when the queue has it; of two with one id it keeps one, for a while. Rejects with
   * `unavailable` when it certainly does not have it; else nobody can tell.
   */
  put(partition: number, id: string, data: Uint8Array): Promise<void>;
  /** Hands it over without waiting for the queue. */
  post(partition: number, id: string, data: Uint8Array): void;
  /**
   * Reads a partition, also what an earlier reader had in hand and did not answer for. Settles
   * when `signal` aborts; rejects or settles before when the reading broke.
   */
  read(
    partition: number,
    signal: AbortSignal,
    onCommand: (command: QueuedCommand) => void,
  ): Promise<void>;
}

/** To be answered for by one of these. */
export interface QueuedCommand {
  readonly data: Uint8Array;
  /** It is carried out, or refused for good. */
  done(): void;
  /** It shall come again after so many milliseconds. */
  again(ms: number): void;
  /** Nobody can read it. */
  drop(): void;
}

/** The queue does not have what it was given. */
export function away(cause?: unknown): AppError {
  return new AppError("unavailable", "The message bus is not reachable just now.", {
    cause,
    retryAfter: 2,
  });
}
