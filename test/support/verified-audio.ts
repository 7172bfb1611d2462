import type { DatabasePool } from "slonik";
import { type Log, silentLog } from "../../src/base/log.ts";
import type { FolderBlobs } from "../../src/conversations/recording/audio-store/blobs.ts";
import { AudioDamageStore } from "../../src/conversations/recording/integrity/audio-damage-store.ts";
import { AudioMending } from "../../src/conversations/recording/integrity/audio-mending.ts";
import { VerifiedAudio } from "../../src/conversations/recording/integrity/verified-audio.ts";
import type { CommandNotifier } from "../../src/postgres/outbox.ts";

const NOBODY: CommandNotifier = { notify: () => {} };

/** Stored audio as every process of the service reads it. */
export function verifiedAudio(
  pool: DatabasePool,
  files: FolderBlobs,
  log: Log = silentLog,
): VerifiedAudio {
  return new VerifiedAudio({ files, records: new AudioDamageStore(pool), notifier: NOBODY, log });
}

/** Stored audio that comes again, as every process of the service takes it. */
export function audioMending(
  pool: DatabasePool,
  files: FolderBlobs,
  notifier: CommandNotifier = NOBODY,
): AudioMending {
  const records = new AudioDamageStore(pool);
  return new AudioMending({ files, records, notifier, log: silentLog });
}

/** For stores whose files are never damaged. */
export const NO_MENDING: Pick<AudioMending, "mend"> = { mend: async () => {} };

/** For readings of which no file is stored. */
export const NO_FILES: Pick<VerifiedAudio, "read" | "readLog" | "note"> = {
  read: () => Promise.reject(new Error("no file yet")),
  readLog: () => Promise.reject(new Error("no log yet")),
  note: async () => {},
};
