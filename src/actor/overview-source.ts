/** A process that hosts sessions. */
export interface NodeRecord {
  name: string;
  /** When its lease was last raised, Unix milliseconds. */
  lastSeenAt: number;
  /** The process is giving up its sessions in order to stop. */
  leaving: boolean;
  /** Partitions of the sessions that it holds, ascending. */
  partitions: number[];
}

/** A worker process. */
export interface WorkerRecord {
  worker_id: string;
  address: string;
  version: string;
  engines: readonly string[];
  state: "available" | "full" | "draining" | "backing_off";
  sessions: number;
  capacity: number;
  silent_ms: number;
  /** By what its networks are run, where it tells. */
  networks?: { provider: string; reason?: string };
}

export interface QueueRecord {
  /** Commands in the outbox. */
  outbox: { count: number; oldestAt?: number | undefined };
  /** Those that are no longer tried, and some of their sessions, the last parked first. */
  parked: { count: number; oldestAt?: number | undefined; sessionIds: string[] };
  jobs: { kind: string; queued: number; running: number }[];
  /** Stored chunks of unfinished sessions that are not transcribed yet. */
  chunksPending: number;
  webhooksDue: number;
}

export interface LiveSessionRecord {
  id: string;
  workspaceId: string;
  /** The seq of its newest event. */
  seq: number;
  startedAt: number;
  /** The partition, which shows which node hosts its actor. */
  partition: number;
  pendingChunks: number;
  /** See `LAG`. */
  lagMs: number;
}

/** Port: the nodes that host sessions now. Throws `unavailable` when the leases cannot be read. */
export interface NodeRegister {
  nodes(): Promise<NodeRecord[]>;
}
