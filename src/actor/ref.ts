/** An actor by id, wherever it lives. */
export interface ActorRef {
  /**
   * Sends a command and waits until its events are durable. Throws the
   * refusal's AppError, `unavailable` when it was not carried out and never
   * will be, or `outcome_unknown`: what was done tells whoever asks again with
   * the same `commandId`.
   */
  ask(sessionId: string, command: ActorCommand, commandId: string): Promise<unknown>;
}

export type ActorCommand = { type: string } & Record<string, unknown>;
