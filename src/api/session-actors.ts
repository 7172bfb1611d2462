import type { SessionCommand } from "./sessions-outbox.ts";

/** Port: a session's actor, wherever it lives. */
export interface SessionActors {
  /**
   * Sends a command and waits until its events are durable. Throws the
   * actor's refusal, or `timeout` (outcome unknown: safe to send again with
   * the same `commandId`).
   */
  ask(sessionId: string, command: SessionCommand, commandId: string): Promise<unknown>;
}
