import { type CommonQueryMethods, type DatabasePool, sql } from "slonik";
import { z } from "zod";
import { LookupBatcher, MANY_KEYS } from "../../base/lookup-batcher.ts";
import type { Beat, HeartbeatStore } from "./heartbeats.ts";

const ROWS = 2_000;
const recordingRow = z.object({ device_id: z.string(), id: z.string() });

/** Heartbeats in the rows of their devices, read and written for many devices at a time. */
export class PostgresHeartbeats implements HeartbeatStore {
  readonly #pool: DatabasePool;
  readonly #recording: LookupBatcher<string, string>;

  constructor(pool: DatabasePool) {
    this.#pool = pool;
    this.#recording = new LookupBatcher((ids) => this.#readRecording(ids), MANY_KEYS);
  }

  recording(deviceId: string): Promise<string | undefined> {
    return this.#recording.get(deviceId);
  }

  record(beats: readonly Beat[]): Promise<void> {
    // The same order everywhere prevents deadlocks between processes.
    const sorted = [...beats].sort((a, b) => (a.deviceId < b.deviceId ? -1 : 1));
    return this.#pool.transaction(async (tx) => {
      for (let from = 0; from < sorted.length; from += ROWS) {
        await writeBeats(tx, sorted.slice(from, from + ROWS));
      }
    });
  }

  async #readRecording(ids: readonly string[]): Promise<(string | undefined)[]> {
    const rows = await this.#pool.any(sql.type(recordingRow)`
      select device_id, id from sessions
      where status = 'recording' and device_id = any(${sql.array([...ids], "uuid")})`);
    const found = new Map(rows.map((row) => [row.device_id, row.id]));
    return ids.map((id) => found.get(id));
  }
}

async function writeBeats(tx: CommonQueryMethods, beats: readonly Beat[]): Promise<void> {
  const ids = sql.array(
    beats.map(({ deviceId }) => deviceId),
    "uuid",
  );
  await tx.query(sql.unsafe`
    select id from devices where id = any(${ids}) order by id for no key update`);
  const rows = beats.map(({ deviceId, ago, telemetry = null, firmware = null }) => [
    deviceId,
    ago / 1_000,
    telemetry,
    firmware,
  ]);
  await tx.query(sql.unsafe`
    with heard as (
      select id, now() - ago * interval '1 second' as at, telemetry, firmware
      from ${sql.unnest(rows, ["uuid", "float8", "text", "text"])}
        as heard (id, ago, telemetry, firmware)
    )
    update devices set last_seen_at = heard.at,
      telemetry = coalesce(heard.telemetry::jsonb, devices.telemetry),
      firmware = coalesce(heard.firmware, devices.firmware)
    from heard
    where devices.id = heard.id
      -- What is in the future was written by another clock, and must not silence the device.
      and (devices.last_seen_at is null or devices.last_seen_at <= heard.at
        or devices.last_seen_at > now())`);
}
