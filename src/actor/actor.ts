/**
 * What makes an actor of one kind: its state and how commands and events change
 * it. Everything here is synchronous, so that turns cannot interleave.
 */
export interface Behaviour<S, E, W, C> {
  initial(id: string): S;
  /** Never fails; changes `state` in place. */
  apply(state: S, event: E, at: number): void;
  /**
   * Decides on a command, applying the events it gives. Throws AppError to
   * refuse, and has then changed nothing.
   */
  decide(state: S, command: C, now: number): Decision<E, W>;
  /**
   * True when the command does nothing more if it comes again, however late. Of
   * others the outcome is remembered, and given again.
   */
  isRepeatable(command: C): boolean;
  /** Whether something is left to do that nobody will ask for. */
  hasWork(state: S): boolean;
  /** When to send itself a command, if nothing else happens before. */
  deadline(state: S): Deadline<C> | undefined;
  /** Version of what `pack` gives; snapshots of others are not read. */
  readonly snapshotVersion: number;
  /** The state as it is kept, as JSON, and back. `unpack` throws what it cannot read. */
  pack(state: S): unknown;
  unpack(packed: unknown): S;
}

export interface Deadline<C> {
  at: number;
  command: C;
  /** How long until it is sent once more when it changed nothing, milliseconds. */
  again: number;
}

interface Decision<E, W> {
  events: E[];
  writes: W[];
  reply: unknown;
}

/**
 * One purpose that the durable turns of an activation serve: what goes out after
 * each, and what comes back as commands through `tell`. An activation has a list
 * of them, which know nothing of each other.
 */
export interface Effects<S, E, W> {
  /** Once, after the state is loaded, before the first turn. */
  start(state: Readonly<S>, seq: number): void;
  /** After each durable turn, in order. Must not throw and must not wait. */
  after(turn: DurableTurn<S, E, W>): void;
  /** True while something is open that will send commands. */
  busy(): boolean;
  /**
   * Ends what is open: no command is sent afterwards. A turn whose append was under way may still
   * come.
   */
  stop(): Promise<void>;
}

export interface DurableTurn<S, E, W> {
  state: Readonly<S>;
  /** With their seq. */
  events: { seq: number; at: number; event: E }[];
  writes: W[];
}

export interface EffectsContext<C> {
  id: string;
  epoch: number;
  /** Queues a command to the activation itself. False when it is full or gone. */
  tell(command: C): boolean;
}

/** Port: an actor by id, wherever it lives. */
export interface ActorRef<C> {
  /**
   * Sends a command and waits until its events are durable. Throws the
   * refusal's AppError, `unavailable` when it was not carried out and never
   * will be, or `outcome_unknown`: what was done tells whoever asks again with
   * the same `commandId`.
   */
  ask(sessionId: string, command: C, commandId: string): Promise<unknown>;
}
