import type { ActorRef } from "../../actor/actor.ts";
import type { OutsideCommand } from "../../session/outside-command.ts";
import type { SessionStore } from "./store.ts";

/** Sends commands to session actors, on whichever host they run. */
export type SessionActors = ActorRef<OutsideCommand>;

/** Dependencies of routes that send commands to a session's actor. */
export interface SessionWishOptions {
  directory: SessionStore;
  actors: SessionActors;
}
