/**
 * Signs of whether more of a session's audio may come. Times are milliseconds by the database's
 * clock.
 */
export interface Signs {
  /** Time since the device's last sign of life: a heartbeat, an upload or a running stream. */
  heardAgo: number;
  /** Time since the newest chunk of the session was stored; undefined when there is none. */
  chunkAgo: number | undefined;
  /** Sequences whose streamed audio is stored but is no chunk yet. */
  openChunks: readonly number[];
}

/** Port: reads the signs of a session's device. Throws `unavailable`. */
export interface DeviceSigns {
  of(sessionId: string): Promise<Signs>;
}
