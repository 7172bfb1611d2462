import { AppError } from "../../../src/base/errors.ts";
import type { StreamSigns } from "../../../src/conversations/recording/stream-routes.ts";
import type { DeviceSigns, Signs } from "../../../src/session/device-signs.ts";
import type { Beat, HeartbeatStore } from "../../../src/tenancy/devices/heartbeats.ts";
import type { StreamRow } from "./rows.ts";
import type { TwinParts } from "./twin-journal.ts";

/** Heartbeats of devices, and when a session's was last heard, over tables in memory. */
export class TwinDevices implements HeartbeatStore, DeviceSigns, StreamSigns {
  readonly #parts: TwinParts;

  constructor(parts: TwinParts) {
    this.#parts = parts;
  }

  recording(deviceId: string): Promise<string | undefined> {
    const { client, t } = this.#parts;
    return client.query(
      (s) =>
        s.all(t.sessions).find((row) => row.device_id === deviceId && row.status === "recording")
          ?.id,
    );
  }

  record(beats: readonly Beat[]): Promise<void> {
    const { client, t } = this.#parts;
    const sorted = [...beats].sort((a, b) => (a.deviceId < b.deviceId ? -1 : 1));
    return client.transaction(async (tx) => {
      await tx.run(async (s) => {
        for (const { deviceId } of sorted) await s.lock(t.devices, deviceId, "no key update");
      });
      await tx.run(async (s) => {
        for (const beat of sorted) {
          const at = s.now - beat.ago;
          await s.update(
            t.devices,
            beat.deviceId,
            ({ telemetry, firmware }) => ({
              last_seen_at: at,
              telemetry: beat.telemetry ?? telemetry,
              firmware: beat.firmware ?? firmware,
            }),
            ({ last_seen_at: before }) => before === null || before <= at || before > s.now,
          );
        }
      });
    });
  }

  async streaming(sessionIds: readonly string[]): Promise<void> {
    const { client, t } = this.#parts;
    await client.query(async (s) => {
      for (const id of sessionIds) {
        const isOld = ({ touched_at: at }: StreamRow) => at < s.now - 5_000;
        await s.update(t.streams, id, () => ({ touched_at: s.now }), isOld);
      }
    });
  }

  of(sessionId: string): Promise<Signs> {
    const { client, t } = this.#parts;
    return client.query((s) => {
      const session = s.get(t.sessions, sessionId);
      if (session === undefined) {
        throw new AppError("not_found", "There is no session with this id.");
      }
      const chunks = s.all(t.chunks, sessionId).map(({ uploaded_at: at }) => at);
      const newest = chunks.length === 0 ? undefined : Math.max(...chunks);
      const signs = [
        session.started_at,
        s.get(t.devices, session.device_id ?? "")?.last_seen_at,
        s.get(t.streams, sessionId)?.touched_at,
        newest,
        session.stop_reason === null ? session.stopped_at : undefined,
      ].filter((at) => typeof at === "number");
      const ago = (at: number) => Math.round(Math.max(0, s.now - at));
      return {
        heardAgo: ago(Math.max(...signs)),
        chunkAgo: newest === undefined ? undefined : ago(newest),
        openChunks: [...new Set(s.all(t.pieces, sessionId).map(({ sequence }) => sequence))].sort(
          (a, b) => a - b,
        ),
      };
    });
  }
}
