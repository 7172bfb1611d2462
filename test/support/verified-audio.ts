import type { DatabasePool } from "slonik";
import { type Log, silentLog } from "../../src/base/log.ts";
import type { FolderBlobs } from "../../src/features/recording/blobs.ts";
import { AudioDamageStore } from "../../src/features/recording/integrity/audio-damage-store.ts";
import { VerifiedAudio } from "../../src/features/recording/integrity/verified-audio.ts";

/** Stored audio as every process of the service reads it. */
export function verifiedAudio(
  pool: DatabasePool,
  files: FolderBlobs,
  log: Log = silentLog,
): VerifiedAudio {
  return new VerifiedAudio({ files, records: new AudioDamageStore(pool), log });
}

/** For readings of which no file is stored. */
export const NO_FILES: Pick<VerifiedAudio, "read" | "note"> = {
  read: () => Promise.reject(new Error("no file yet")),
  note: async () => {},
};
