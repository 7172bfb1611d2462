/**
 * Port: whether the service keeps up with what it is sent. Answers at once, by
 * what it knows; never rejects for lack of knowledge.
 */
export interface UploadBacklog {
  /** Throws `overloaded` with `Retry-After` while too much for the session waits to be worked off. */
  check(sessionId: string): void;
}
