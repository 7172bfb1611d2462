import type { SessionCommand } from "../../postgres/outbox.ts";
import type { SessionStore } from "./store.ts";

/** Port: a session's actor, wherever it lives. */
export interface SessionActors {
  /**
   * Sends a command and waits until its events are durable. Throws the
   * actor's refusal, `unavailable` when it was not carried out and never will
   * be, or `outcome_unknown`: what was done tells whoever asks again with the
   * same `commandId`.
   */
  ask(sessionId: string, command: SessionCommand, commandId: string): Promise<unknown>;
}

/** What routes need that carry a wish to a session's actor. */
export interface SessionWishOptions {
  directory: SessionStore;
  actors: SessionActors;
}
