/** An actor by id, wherever it lives. */
export interface ActorRef {
  /**
   * Sends a command and waits until its events are durable. Throws the
   * refusal's AppError, or `timeout` (outcome unknown: safe to send again
   * with the same `commandId`).
   */
  ask(sessionId: string, command: ActorCommand, commandId: string): Promise<unknown>;
}

export type ActorCommand = { type: string } & Record<string, unknown>;
