/**
 * Defines a kind of actor: its state, and how commands and events change it. Everything here is
 * synchronous, so that turns cannot interleave.
 */
export interface Behaviour<S, E, W, C> {
  initial(id: string): S;
  /** Applies an event, changing `state` in place. Must not fail. */
  apply(state: S, event: E, at: number): void;
  /**
   * Decides on a command, applying the events it gives. Throws AppError to
   * refuse, and has then changed nothing.
   */
  decide(state: S, command: C, now: number): Decision<E, W>;
  /**
   * True when the command changes nothing if it is repeated, however late. Outcomes of other
   * commands are stored, and given again.
   */
  isRepeatable(command: C): boolean;
  /** Whether the actor has work that goes on without a request. */
  hasWork(state: S): boolean;
  /** The command that the actor sends itself at a time, if nothing else happens before. */
  deadline(state: S): Deadline<C> | undefined;
  /** Version of the packed state; snapshots of other versions are not read. */
  readonly snapshotVersion: number;
  /**
   * Convert the state to JSON for snapshots, and back. `unpack` throws when it cannot read the
   * JSON.
   */
  pack(state: S): unknown;
  unpack(packed: unknown): S;
}

export interface Deadline<C> {
  at: number;
  command: C;
  /** Wait before it is sent again when it changed nothing, milliseconds. */
  again: number;
}

interface Decision<E, W> {
  events: E[];
  writes: W[];
  reply: unknown;
}

/**
 * One consumer of the durable turns of an activation: it sends results out after each turn, and may
 * send commands back through `tell`. An activation has a list of independent effects.
 */
export interface Effects<S, E, W> {
  /** Called once, after the state is loaded and before the first turn. */
  start(state: Readonly<S>, seq: number): void;
  /** Called after each durable turn, in order. Must not throw and must not wait. */
  after(turn: DurableTurn<S, E, W>): void;
  /** True while work is open that will send commands. */
  busy(): boolean;
  /**
   * Ends the open work: no command is sent afterwards. `after` may still be called for a turn whose
   * append was under way.
   */
  stop(): Promise<void>;
}

export interface DurableTurn<S, E, W> {
  state: Readonly<S>;
  /** The events of the turn, each with its seq and its time in Unix milliseconds. */
  events: { seq: number; at: number; event: E }[];
  writes: W[];
}

export interface EffectsContext<C> {
  id: string;
  epoch: number;
  /**
   * Queues a command to the activation itself. False when the mailbox is full or the activation has
   * stopped.
   */
  send(command: C): boolean;
}

/** Port: sends commands to actors by id, wherever they live. */
export interface ActorRef<C> {
  /**
   * Sends a command and waits until its events are durable. Throws the refusal's AppError,
   * `unavailable` when it was not carried out and never will be, or `outcome_unknown`: a caller
   * finds out by asking again with the same `commandId`.
   */
  ask(sessionId: string, command: C, commandId: string): Promise<unknown>;
}
