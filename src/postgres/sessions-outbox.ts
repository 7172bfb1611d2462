/** What a session is told to do; the session domain knows the shapes. */
export type SessionCommand = { type: string } & Record<string, unknown>;

/** A committed command that waits to be published; `id` is the command's id for ever. */
export interface OutboxRow {
  id: string;
  sessionId: string;
  /** Ids and numbers only. */
  command: SessionCommand;
}

/**
 * Port: told of outbox rows right after their commit, so that they are
 * published at once. At most once and best effort: a sweep publishes again
 * what this loses. Never throws, and makes nobody wait: what is committed is
 * safe.
 */
export interface CommandNotifier {
  notify(rows: readonly OutboxRow[]): void;
}
