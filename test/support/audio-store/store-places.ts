import { mkdtempSync, rmSync, utimesSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { AudioStore } from "../../../src/conversations/recording/audio-store/audio-store.ts";
import { FolderBlobs } from "../../../src/conversations/recording/audio-store/blobs.ts";
import {
  type MovedRecords,
  MovingStore,
} from "../../../src/conversations/recording/audio-store/moving-store.ts";
import { S3Blobs } from "../../../src/conversations/recording/audio-store/s3-blobs.ts";
import type { S3Settings } from "../../../src/conversations/recording/audio-store/s3-bucket.ts";
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

/** What the database would say of audio that is moved. */
export class RememberedRecords implements MovedRecords {
  readonly deleted = new Set<string>();
  /** By the name of the file; others are not known. */
  readonly known = new Map<string, readonly string[]>();
  /** Waited for before an answer is looked for, and before it is given. */
  before: (() => Promise<void>) | undefined;

  async isDeleted(sessionId: string): Promise<boolean> {
    await this.before?.();
    const isDeleted = this.deleted.has(sessionId);
    await this.before?.();
    return isDeleted;
  }

  async digests(_sessionId: string, sha256: string): Promise<readonly string[] | undefined> {
    return this.known.get(sha256);
  }
}

export interface MovingPlace extends StorePlace {
  store: MovingStore;
  from: AudioStore;
  to: AudioStore;
  server: S3Server;
  records: RememberedRecords;
}

/** A folder and a bucket, of which one is moved to the other. */
export async function openMoving(to: "S3" | "folder"): Promise<MovingPlace> {
  const [folder, s3, records] = [await openFolder(), await openS3(), new RememberedRecords()];
  const [target, former] = to === "S3" ? [s3, folder] : [folder, s3];
  const store = new MovingStore({ to: target.store, from: former.store, records });
  return {
    ...{ store, from: former.store, to: target.store, server: s3.server, records },
    ...{ before: target.before, age: target.age },
    async close() {
      await s3.close();
      await folder.close();
    },
  };
}

export async function openStartedMoving(to: "S3" | "folder"): Promise<MovingPlace> {
  const place = await openMoving(to);
  await place.store.start();
  return place;
}
