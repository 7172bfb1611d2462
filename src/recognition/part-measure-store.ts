import { type DatabasePool, sql } from "slonik";
import { z } from "zod";
import { SESSION_RATE } from "../base/audio/sample-rate.ts";
import type { Runtime } from "../base/runtime.ts";
import { digestsOf } from "../conversations/recording/integrity/stored-digests-store.ts";
import type { Sounds } from "../conversations/recording/sounds.ts";
import { readLead, saveMeasured } from "../conversations/transcript/audio-parts-store.ts";
import { optionalColumn } from "../postgres/optional-column.ts";
import { Tenants } from "../postgres/tenants.ts";
import type { AudioSource } from "./audio-source.ts";
import type { MeasurePart } from "./part-measuring.ts";
import { readStoredSound } from "./stored-sound.ts";

interface PartMeasureOptions {
  sounds: Pick<Sounds, "measure">;
  audio: Pick<AudioSource, "bytes" | "noteDamage">;
  runtime: Pick<Runtime, "delay">;
}

const fileRow = z.object({ sha256: z.string(), digests: optionalColumn(z.array(z.string())) });

/** Measures stored parts by their bytes and those before them, and keeps what the next one needs. */
export function partMeasure(
  pool: DatabasePool,
  { sounds, audio, runtime }: PartMeasureOptions,
): MeasurePart {
  const tenants = new Tenants(pool);
  return async (sessionId, sequence) => {
    const lead = await readLead(pool, sessionId, sequence);
    if (lead === undefined) return undefined;
    const file = await pool.maybeOne(sql.type(fileRow)`
      select encode(sha256, 'hex') as sha256, ${digestsOf(sql.fragment`chunks`)} as digests
      from chunks where session_id = ${sessionId} and sequence = ${sequence}`);
    if (file === null) return undefined;
    const { sha256, digests } = file;
    const asked = { sessionId, sha256, digests, part: undefined };
    const stored = await readStoredSound({ source: audio, runtime, isWanted: () => true }, asked);
    if (stored === undefined) return undefined;
    const isDamaged = "damaged" in stored;
    const sound = isDamaged
      ? { error: stored.damaged }
      : await sounds.measure(await tenants.ofSession(sessionId), { data: stored.data, lead });
    if ("error" in sound) {
      await saveMeasured(pool, { sessionId, sequence }, { carry: new Uint8Array(0) });
      const damage = isDamaged ? { damaged: true as const } : {};
      return { frames: 0, sampleRate: SESSION_RATE, unreadable: sound.error, ...damage };
    }
    // Before the length is on record: whoever measures the next part finds it.
    const { head, carry = new Uint8Array(0) } = sound.part ?? {};
    await saveMeasured(pool, { sessionId, sequence }, { head, carry });
    const { frames, sampleRate } = sound;
    return { frames, sampleRate };
  };
}
