import type { SessionCommand } from "../../postgres/outbox.ts";
import type { SessionStore } from "./store.ts";

/** Sends commands to session actors, on whichever host they run. */
export interface SessionActors {
  /**
   * Sends a command and waits until its events are durable. Throws the actor's refusal,
   * `unavailable` when it was not carried out and never will be, or `outcome_unknown`: then a
   * repetition with the same `commandId` returns the outcome.
   */
  ask(sessionId: string, command: SessionCommand, commandId: string): Promise<unknown>;
}

/** Dependencies of routes that send commands to a session's actor. */
export interface SessionWishOptions {
  directory: SessionStore;
  actors: SessionActors;
}
