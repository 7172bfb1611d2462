import { type DatabasePool, sql } from "slonik";
import { z } from "zod";
import { isWaiting, type WaitingWorkStore } from "../../postgres/waiting-work.ts";

const deviceRow = z.object({
  sessionId: z.string(),
  lastSeenAt: z.number(),
  telemetry: z.record(z.unknown()),
});

/** Reads the devices that record sessions. */
export class RecordingDeviceStore {
  readonly #pool: DatabasePool;
  readonly #pendingWork: WaitingWorkStore | undefined;

  /** @param pendingWork skips the query when it knows of no recording session */
  constructor(pool: DatabasePool, pendingWork?: WaitingWorkStore) {
    this.#pool = pool;
    this.#pendingWork = pendingWork;
  }

  /** Reads the devices that have sent a heartbeat and record a session of these partitions. */
  async read(partitions: readonly number[]): Promise<RecordingDevice[]> {
    if (!(await isWaiting(this.#pendingWork, "recording"))) return [];
    const rows = await this.#pool.any(sql.type(deviceRow)`
      select s.id as "sessionId", d.last_seen_at as "lastSeenAt", d.telemetry
      from sessions s join devices d on d.id = s.device_id
      where s.status = 'recording' and partition_of(s.id) = any(${sql.array([...partitions], "int2")})
        and d.last_seen_at is not null`);
    return [...rows];
  }
}

/** The last heartbeat of a recording session's device. */
export interface RecordingDevice {
  sessionId: string;
  /** Unix milliseconds. */
  lastSeenAt: number;
  telemetry: Readonly<Record<string, unknown>>;
}
