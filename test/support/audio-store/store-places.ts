import { mkdtempSync, rmSync, utimesSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { AudioStore } from "../../../src/features/recording/audio-store/audio-store.ts";
import { FolderBlobs } from "../../../src/features/recording/audio-store/blobs.ts";
import { S3Blobs } from "../../../src/features/recording/audio-store/s3-blobs.ts";
import type { S3Settings } from "../../../src/features/recording/audio-store/s3-bucket.ts";
import { S3Server } from "./s3-server.ts";
import { ACCESS_KEY, SECRET_KEY } from "./s3-signature.ts";

const DAY = 24 * 3_600_000;

/** A store of its own, with what a test may do to it from outside. */
export interface StorePlace {
  store: AudioStore;
  /** Makes a stored file as old as `instant`, Unix milliseconds. */
  age(sessionId: string, sha256: string, instant: number): void;
  /** An instant before which a file was stored that was made two days old. */
  readonly before: number;
  close(): Promise<void>;
}

interface S3Place extends StorePlace {
  server: S3Server;
}

/** Of the light server of these tests, with pages so small that lists have many. */
export async function openS3(settings: Partial<S3Settings> = {}): Promise<S3Place> {
  const server = new S3Server();
  await server.start();
  const folder = mkdtempSync(join(tmpdir(), "audio-store-"));
  const store = await S3Blobs.open({
    ...{ bucket: server.bucket, prefix: "voice/", endpoint: server.endpoint, region: undefined },
    ...{ pathStyle: true, encryption: undefined, kmsKey: undefined },
    ...{ folder, pageSize: 5 },
    credentials: { accessKeyId: ACCESS_KEY, secretAccessKey: SECRET_KEY },
    ...settings,
  });
  return {
    store,
    server,
    before: Date.now() - DAY,
    age(sessionId, sha256, instant) {
      const object = server.objects.get(`voice/${sessionId}/${sha256}`);
      if (object === undefined) throw new Error("There is no such object.");
      object.at = instant;
    },
    async close() {
      await store.stop();
      await server.stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

export async function openStartedS3(): Promise<S3Place> {
  const place = await openS3();
  await place.store.start();
  return place;
}

export async function openFolder(): Promise<StorePlace> {
  const folder = mkdtempSync(join(tmpdir(), "audio-store-"));
  const store = new FolderBlobs(folder);
  await store.start();
  await store.ledger.start();
  return {
    store,
    before: Date.now() - DAY,
    age: (sessionId, sha256, instant) =>
      utimesSync(join(folder, sessionId, sha256), instant / 1_000, instant / 1_000),
    async close() {
      await store.stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
