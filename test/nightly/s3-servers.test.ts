import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  CreateBucketCommand,
  ListObjectVersionsCommand,
  PutBucketVersioningCommand,
  S3Client,
} from "@aws-sdk/client-s3";
import { afterAll, describe, expect, it } from "vitest";
import { newId } from "../../src/base/ids.ts";
import { S3Blobs } from "../../src/conversations/recording/audio-store/s3-blobs.ts";
import { MotoServer } from "../support/audio-store/moto-server.ts";
import type { StorePlace } from "../support/audio-store/store-places.ts";
import { describeAudioStore } from "../support/audio-store/store-suite.ts";

/*
 * Moto, a server of S3 that others wrote. It checks conditional writes of whole objects and of those in
 * parts, copies, ranges, lists by cursor and versions. It takes any signature, and keeps what it is told of
 * checksums and encryption without comparing or encrypting anything: those the server of `npm test` checks.
 */
const DAY = 24 * 3_600_000;
const credentials = { accessKeyId: "any", secretAccessKey: "any" };
const server = await MotoServer.start();
const title = typeof server === "string" ? ` (skipped: ${server})` : "";
const endpoint = typeof server === "string" ? "" : server.endpoint;

const client = new S3Client({ endpoint, region: "us-east-1", forcePathStyle: true, credentials });

async function openMoto(bucket: string, keepsVersions: boolean): Promise<StorePlace> {
  await client.send(new CreateBucketCommand({ Bucket: bucket }));
  if (keepsVersions) {
    const VersioningConfiguration = { Status: "Enabled" } as const;
    await client.send(new PutBucketVersioningCommand({ Bucket: bucket, VersioningConfiguration }));
  }
  const folder = mkdtempSync(join(tmpdir(), "audio-store-"));
  const store = await S3Blobs.open({
    ...{ bucket, prefix: "voice/", endpoint, region: undefined, pathStyle: true },
    ...{ encryption: undefined, kmsKey: undefined, folder, pageSize: 5, credentials },
  });
  await store.start();
  return {
    store,
    // Nobody can make its objects older; all are older than tomorrow.
    age: () => {},
    before: Date.now() + DAY,
    async close() {
      await store.stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

describe.skipIf(typeof server === "string")(`servers of S3${title}`, () => {
  afterAll(() => {
    client.destroy();
    if (typeof server !== "string") server.stop();
  });

  describeAudioStore("moto", () => openMoto("plain", false));
  describeAudioStore("moto that keeps versions", () => openMoto("versions", true));

  it("versions: nothing that was erased or silenced is left in an older one", async () => {
    const { store, close } = await openMoto("erased", true);
    const [session, sha256] = [newId(), "ab".repeat(32)];
    await store.putBytes(session, sha256, Buffer.from("secret"));
    await store.replace(session, sha256, Buffer.from("quiet"));
    const left = async () => {
      const Prefix = `voice/${session}`;
      const page = await client.send(new ListObjectVersionsCommand({ Bucket: "erased", Prefix }));
      return [page.Versions?.length ?? 0, page.DeleteMarkers?.length ?? 0];
    };
    expect(await left()).toEqual([1, 0]);
    await store.delete(session);
    expect(await left()).toEqual([0, 0]);
    await close();
  });
});
