import { mkdtempSync, rmSync, utimesSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { AudioStore } from "../../../src/features/recording/audio-store/audio-store.ts";
import { FolderBlobs } from "../../../src/features/recording/audio-store/blobs.ts";

/** A store of its own, with what a test may do to it from outside. */
export interface StorePlace {
  store: AudioStore;
  /** Makes a stored file as old as `instant`, Unix milliseconds. */
  age(sessionId: string, sha256: string, instant: number): void;
  close(): Promise<void>;
}

export async function openFolder(): Promise<StorePlace> {
  const folder = mkdtempSync(join(tmpdir(), "audio-store-"));
  const store = new FolderBlobs(folder);
  await store.start();
  await store.ledger.start();
  return {
    store,
    age: (sessionId, sha256, instant) =>
      utimesSync(join(folder, sessionId, sha256), instant / 1_000, instant / 1_000),
    async close() {
      await store.stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
