/** Whether more of a session's audio may come. Times are milliseconds by the database's clock. */
export interface Signs {
  /** Since it was last heard: a heartbeat, an upload or a stream that is under way. */
  heardAgo: number;
  /** Since the newest chunk of the session was stored; undefined when there is none. */
  chunkAgo: number | undefined;
  /** Sequences of which streamed audio is on record that is no chunk yet. */
  unsealed: readonly number[];
}

/** Port: the record's answer to whether audio may still come. Throws `unavailable` when it cannot be asked. */
export interface DeviceSigns {
  of(sessionId: string): Promise<Signs>;
}
