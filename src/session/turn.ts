import { apply } from "./apply.ts";
import type { SessionEvent } from "./event.ts";
import { PATIENCE, type Patience } from "./limits.ts";
import type { SessionState } from "./state.ts";
import type { SessionWrite } from "./write.ts";

/**
 * The draft of one command. Emitting an event applies it at once, so that later steps of the same
 * decision see it. Nothing here waits; when the append fails, the actor drops the state.
 */
export class Turn {
  readonly state: SessionState;
  /** Unix milliseconds. */
  readonly now: number;
  readonly patience: Patience;
  readonly events: SessionEvent[] = [];
  readonly writes: SessionWrite[] = [];

  constructor(state: SessionState, now: number, patience: Patience = PATIENCE) {
    this.state = state;
    this.now = now;
    this.patience = patience;
  }

  emit(event: SessionEvent): void {
    apply(this.state, event, this.now);
    this.events.push(event);
  }

  write(write: SessionWrite): void {
    this.writes.push(write);
  }
}
