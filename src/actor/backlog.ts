/**
 * Port: work that the record knows of and that may have been forgotten
 * everywhere else.
 */
export interface Backlog {
  /** Commands to sessions of these partitions that nobody finished within `olderThan` ms. */
  commands(
    partitions: readonly number[],
    olderThan: number,
    limit: number,
  ): Promise<BacklogCommand[]>;
  /** Commands to this session that nobody finished, oldest first. */
  commandsTo(sessionId: string): Promise<BacklogCommand[]>;
  /** Sessions of these partitions that have something left to do. */
  unfinished(partitions: readonly number[]): Promise<string[]>;
}

export interface BacklogCommand {
  id: string;
  sessionId: string;
  command: { type: string } & Record<string, unknown>;
}
