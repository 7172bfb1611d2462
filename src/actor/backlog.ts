/**
 * Port: work that the record knows of and that may have been forgotten
 * everywhere else.
 */
export interface Backlog {
  /**
   * Sessions that have work to do, of each of these partitions the next after that id; a partition
   * that gives fewer than `OPEN_WORK_PAGE` has no more.
   */
  openWork(places: readonly Place[]): Promise<WorkingSession[]>;
  /** Partitions to whose sessions commands wait, in their order. */
  waiting(): Promise<number[]>;
  /**
   * Sessions to which commands wait, of each of these partitions the next after that id, with the
   * oldest of their commands that are due; a partition that gives fewer than `QUEUES_PAGE` has
   * no more. However many wait for one session, no other is seen later for it.
   */
  queues(places: readonly QueuePlace[]): Promise<CommandQueue[]>;
  /** Commands to this session that nobody finished and that are not parked, oldest first. */
  commandsTo(sessionId: string): Promise<BacklogCommand[]>;
  /**
   * A delivery failed by the fault of these commands, or of their session: they rest, each time
   * longer, and are parked when it has failed often enough. Returns those parked now.
   */
  failed(failure: FailedDelivery): Promise<ParkedCommand[]>;
  /** Those of these activations whose actor was deleted or taken over by another. */
  ended(active: readonly ActiveSession[]): Promise<Ended[]>;
}

export interface Ended {
  id: string;
  /** Else another activation has taken it over. */
  isDeleted: boolean;
}

/** An activation that is in memory. */
export interface ActiveSession {
  id: string;
  epoch: number;
}

/** A place in the sessions of a partition, by id; undefined: before the first. */
export interface Place {
  partition: number;
  after: string | undefined;
}

export interface QueuePlace extends Place {
  /** Age in milliseconds from which on a command counts as lost by whoever was to deliver it. */
  olderThan: number;
}

export interface WorkingSession {
  partition: number;
  sessionId: string;
}

export interface CommandQueue extends WorkingSession {
  /** None when what waits rests. */
  commands: BacklogCommand[];
}

export interface BacklogCommand {
  id: string;
  sessionId: string;
  command: { type: string } & Record<string, unknown>;
}

export interface FailedDelivery {
  sessionId: string;
  /** Undefined: all that wait for the session, as it cannot be loaded. */
  ids: readonly string[] | undefined;
  /** One line for operators: ids and numbers only. */
  reason: string;
}

export interface ParkedCommand {
  id: string;
  type: string;
}
