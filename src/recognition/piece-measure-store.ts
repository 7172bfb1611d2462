import { type DatabasePool, sql } from "slonik";
import { z } from "zod";
import { SESSION_RATE } from "../base/audio/sample-rate.ts";
import type { FolderBlobs } from "../features/recording/blobs.ts";
import { keepMeasured, readLead } from "../features/transcript/audio-parts-store.ts";
import type { MeasurePiece } from "./piece-measuring.ts";

const fileRow = z.object({ sha256: z.string() });

/** Measures stored pieces by their bytes and those before them, and keeps what the next one needs. */
export function pieceMeasure(
  pool: DatabasePool,
  blobs: Pick<FolderBlobs, "pathOf" | "sounds">,
): MeasurePiece {
  return async (sessionId, sequence) => {
    const lead = await readLead(pool, sessionId, sequence);
    if (lead === undefined) return undefined;
    const file = await pool.maybeOne(sql.type(fileRow)`
      select encode(sha256, 'hex') as sha256 from chunks
      where session_id = ${sessionId} and sequence = ${sequence}`);
    if (file === null) return undefined;
    const path = blobs.pathOf(sessionId, file.sha256);
    const sound = await blobs.sounds.measure({ path, lead });
    if ("error" in sound) {
      await keepMeasured(pool, { sessionId, sequence }, { carry: new Uint8Array(0) });
      return { frames: 0, sampleRate: SESSION_RATE, unreadable: sound.error };
    }
    // Before the length is on record: whoever measures the next piece finds it.
    const { head, carry = new Uint8Array(0) } = sound.part ?? {};
    await keepMeasured(pool, { sessionId, sequence }, { head, carry });
    const { frames, sampleRate } = sound;
    return { frames, sampleRate };
  };
}
