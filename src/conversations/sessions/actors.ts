import type { SessionActors } from "../context.ts";
import type { SessionStore } from "./store.ts";

/** Dependencies of routes that send commands to a session's actor. */
export interface SessionCommandOptions {
  directory: SessionStore;
  actors: SessionActors;
}
