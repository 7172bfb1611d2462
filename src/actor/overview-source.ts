/** A process that hosts sessions. */
export interface NodeRecord {
  name: string;
  /** When its lease was last raised, Unix milliseconds. */
  lastSeenAt: number;
  /** It is putting its sessions away to stop. */
  leaving: boolean;
  /** Partitions of the sessions that it holds, ascending. */
  partitions: number[];
}

/** A process that recognises. */
export interface WorkerRecord {
  worker_id: string;
  address: string;
  version: string;
  engines: readonly string[];
  state: "available" | "full" | "draining" | "backing_off";
  sessions: number;
  capacity: number;
  silent_ms: number;
}

export interface QueueRecord {
  /** Commands on their way to sessions. */
  outbox: { count: number; oldestAt?: number | undefined };
  /** Of them, those that are tried no more, and some of their sessions, those parked last first. */
  parked: { count: number; oldestAt?: number | undefined; sessionIds: string[] };
  jobs: { kind: string; queued: number; running: number }[];
  /** Stored chunks of unfinished sessions whose words are still to come. */
  chunksPending: number;
  webhooksDue: number;
}

export interface LiveSessionRecord {
  id: string;
  workspaceId: string;
  /** The seq of its newest event. */
  seq: number;
  startedAt: number;
  /** Which node has its actor follows from it. */
  partition: number;
  pendingChunks: number;
  /** See `LAG`. */
  lagMs: number;
}

/** Port: who hosts sessions now. Throws `unavailable` when the leases cannot be read. */
export interface NodeRegister {
  nodes(): Promise<NodeRecord[]>;
}
