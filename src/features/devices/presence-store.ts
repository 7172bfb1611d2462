import { type DatabasePool, sql } from "slonik";
import { z } from "zod";
import { isWaiting, type WorkLook } from "../../postgres/waiting-work.ts";
import type { RecordingDevice, RecordingDevices } from "./presence.ts";

const deviceRow = z.object({
  sessionId: z.string(),
  lastSeenAt: z.number(),
  telemetry: z.record(z.unknown()),
});

export class PostgresRecordingDevices implements RecordingDevices {
  readonly #pool: DatabasePool;
  readonly #look: WorkLook | undefined;

  /** @param look is asked first, where many do */
  constructor(pool: DatabasePool, look?: WorkLook) {
    this.#pool = pool;
    this.#look = look;
  }

  async read(partitions: readonly number[]): Promise<RecordingDevice[]> {
    if (!(await isWaiting(this.#look, "recording"))) return [];
    const rows = await this.#pool.any(sql.type(deviceRow)`
      select s.id as "sessionId", d.last_seen_at as "lastSeenAt", d.telemetry
      from sessions s join devices d on d.id = s.device_id
      where s.status = 'recording' and partition_of(s.id) = any(${sql.array([...partitions], "int2")})
        and d.last_seen_at is not null`);
    return [...rows];
  }
}
