import type { Runtime } from "../base/runtime.ts";
import {
  type Damage,
  damageOf,
  passing,
} from "../conversations/recording/integrity/file-damage.ts";
import type { AudioSource } from "./audio-source.ts";

/**
 * Waits between the tries to read a stored file, milliseconds: a network's file system may miss a
 * file for a moment.
 */
const WAITS = [200, 800, 3_000];

interface StoredSoundOptions {
  source: Pick<AudioSource, "bytes" | "noteDamage">;
  runtime: Pick<Runtime, "delay">;
  /** False once nobody wants the bytes any more. */
  isWanted(): boolean;
}

interface StoredSound {
  sessionId: string;
  sha256: string;
  /** Of what the file may hold, see `PlacedChunk`. */
  digests: readonly string[] | undefined;
  /** Sequence of a part of a stream, see `AudioSource.bytes`. */
  part: number | undefined;
}

/**
 * The stored bytes of a chunk; `damaged`, with a sentence for people, when its own file is gone,
 * cannot be read, or holds other bytes than were stored. Throws when the whole store is away or the
 * host lacks something, which is no fault of this file: `unavailable` for errors of the system.
 */
export async function readStoredSound(
  { source, runtime, isWanted }: StoredSoundOptions,
  { sessionId, sha256, digests, part }: StoredSound,
): Promise<{ data: Buffer } | { damaged: string } | undefined> {
  for (let tries = 0; isWanted(); tries += 1) {
    const read = await tryReading(() => source.bytes(sessionId, sha256, { digests, part }));
    if ("data" in read) return read;
    const wait = WAITS[tries];
    if (wait === undefined) {
      await source.noteDamage(sessionId, sha256, read.damage);
      return { damaged: read.damage.message };
    }
    await runtime.delay(wait);
  }
  return undefined;
}

async function tryReading(
  read: () => Promise<Buffer>,
): Promise<{ data: Buffer } | { damage: Damage }> {
  try {
    return { data: await read() };
  } catch (error) {
    const damage = damageOf(error);
    if (damage === undefined) throw passing(error);
    return { damage };
  }
}
