/** Port: reads work from the record that all processes may have forgotten. */
export interface Backlog {
  /**
   * Sessions that have work: for each place, the next ones of its partition after its id. A
   * partition that gives fewer than `OPEN_WORK_PAGE` has no more.
   */
  openWork(places: readonly PartitionCursor[]): Promise<WorkingSession[]>;
  /** Partitions with sessions that have waiting commands, in order. */
  waiting(): Promise<number[]>;
  /**
   * Sessions with waiting commands: for each place, the next ones of its partition after its id,
   * with the oldest of their commands that are due. A partition that gives fewer than `QUEUES_PAGE`
   * has no more. Many commands for one session do not delay other sessions.
   */
  queues(places: readonly QueueCursor[]): Promise<CommandQueue[]>;
  /** Unfinished commands to this session that are not parked, oldest first. */
  commandsTo(sessionId: string): Promise<BacklogCommand[]>;
  /**
   * Notes that a delivery failed because of these commands or their session: they rest, longer each
   * time, and are parked after enough failures. Returns those that are parked now.
   */
  failed(failure: FailedDelivery): Promise<ParkedCommand[]>;
  /** Returns those activations whose actor was deleted or taken over by another activation. */
  ended(active: readonly ActiveSession[]): Promise<Ended[]>;
}

export interface Ended {
  id: string;
  /** False when another activation has taken it over. */
  isDeleted: boolean;
}

/** An activation that is in memory. */
export interface ActiveSession {
  id: string;
  epoch: number;
}

/** A place in the sessions of a partition: after this id; undefined means before the first. */
export interface PartitionCursor {
  partition: number;
  after: string | undefined;
}

export interface QueueCursor extends PartitionCursor {
  /** Commands of this age count as lost by the process that was to deliver them, milliseconds. */
  olderThan: number;
}

export interface WorkingSession {
  partition: number;
  sessionId: string;
}

export interface CommandQueue extends WorkingSession {
  /** Empty when all waiting commands rest. */
  commands: BacklogCommand[];
}

export interface BacklogCommand {
  id: string;
  sessionId: string;
  command: { type: string } & Record<string, unknown>;
}

export interface FailedDelivery {
  sessionId: string;
  /** Undefined means all waiting commands of the session, because it cannot be loaded. */
  ids: readonly string[] | undefined;
  /** One line for operators: ids and numbers only. */
  reason: string;
}

export interface ParkedCommand {
  id: string;
  type: string;
}
