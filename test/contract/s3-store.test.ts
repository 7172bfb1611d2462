import { createHash, randomBytes } from "node:crypto";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { newId } from "../../src/base/ids.ts";
import type { S3Settings } from "../../src/features/recording/audio-store/s3-bucket.ts";
import { Refusal, type S3Mood } from "../support/audio-store/s3-server.ts";
import { openS3 } from "../support/audio-store/store-places.ts";
import { codeOf } from "../support/route-call.ts";

const MIB = 1024 ** 2;
const DAY = 24 * 3_600_000;
const bytes = randomBytes(1_000);
const sha256 = createHash("sha256").update(bytes).digest("hex");

/** What the audio store asks of an S3 server beyond what all stores do, and how it takes its faults. */
describe("S3 store", () => {
  let place: Awaited<ReturnType<typeof openS3>>;
  afterEach(() => place.close());

  async function started(settings: Partial<S3Settings> = {}) {
    place = await openS3(settings);
    await place.store.start();
    return place;
  }

  it("large files go in parts, of which none is left whether or not the name is free", async () => {
    const { store, server } = await started();
    const session = newId();
    for (let n = 0; n < 2; n += 1) {
      const path = join(store.temporaryFolder, newId());
      writeFileSync(path, Buffer.alloc(17 * MIB, n));
      await store.put(session, sha256, path);
    }
    expect(server.asked.filter((each) => each === "POST uploads")).toHaveLength(2);
    expect(server.asked.filter((each) => each === "PUT partNumber&uploadId&x-id")).toHaveLength(6);
    expect(server.unfinished).toBe(0);
    expect((await store.read(session, sha256))[0]).toBe(0);
  });

  it("asks the server to encrypt all that it writes, in each way of writing", async () => {
    const { store, server } = await started({ encryption: "aws:kms", kmsKey: "key-1" });
    const session = newId();
    await store.putBytes(session, sha256, bytes);
    await store.putBytes(session, "ab".repeat(32), Buffer.alloc(9 * MIB));
    await store.replace(session, sha256, Buffer.alloc(1_000));
    place.age(session, sha256, Date.now() - 2 * DAY);
    await store.setAside(session, sha256, Date.now() - DAY, Date.now());
    await store.ledger.writeOnce("a.json", "{}");
    const found = [...server.objects.values()].map(({ encryption, kmsKey }) => [
      encryption,
      kmsKey,
    ]);
    expect(found).toEqual(Array.from({ length: 3 }, () => ["aws:kms", "key-1"]));
  });

  it("takes a read up again where its connection broke, by a range of the same version", async () => {
    const { store, server } = await started();
    const session = newId();
    const large = randomBytes(2 * MIB);
    await store.putBytes(session, sha256, large);
    server.cuts = 2;
    expect(large.equals(await store.read(session, sha256))).toBe(true);
    expect(server.ranges.length).toBeGreaterThan(0);
    server.cuts = 100;
    expect(await codeOf(store.read(session, sha256))).toBe("unavailable");
  });

  it("what a start refuses says what is wrong, and with which setting", async () => {
    const refused = async (settings: Partial<S3Settings>, break_?: () => void) => {
      place = await openS3(settings);
      break_?.();
      const message = await place.store.start().then(
        () => "started",
        (error: Error) => error.message,
      );
      return message;
    };
    expect(await refused({ bucket: "other" })).toContain("no such bucket");
    await place.close();
    const credentials = { accessKeyId: "AKIATEST", secretAccessKey: "wrong" };
    expect(await refused({ credentials })).toContain("refuses these credentials");
    await place.close();
    expect(await refused({ endpoint: "http://127.0.0.1:1" })).toContain("AUDIO_S3_ENDPOINT");
    await place.close();
    place = await openS3();
    place.server.versioning = new Refusal(403, "AccessDenied");
    await expect(place.store.start()).rejects.toThrow("s3:GetBucketVersioning");
    place.server.versioning = new Refusal(501, "NotImplemented");
    await place.store.start();
    place.server.ignoresConditions = true;
    await expect(place.store.start()).rejects.toThrow("ignores If-None-Match");
    expect(place.server.objects.size).toBe(0);
  });

  it.each<S3Mood>(["away", "busy", "hanging"])(
    "%s: each call ends in time as unavailable with a time to come again, and all is well after",
    async (mood) => {
      const { store, server } = await started({ answerMs: 200 });
      const session = newId();
      await store.putBytes(session, sha256, bytes);
      server.mood = mood;
      const path = join(store.temporaryFolder, newId());
      writeFileSync(path, bytes);
      const calls = [
        () => store.putBytes(newId(), sha256, bytes),
        () => store.put(newId(), sha256, path),
        () => store.read(session, sha256),
        () => store.digest(session, sha256),
        () => store.lend(session, sha256, undefined),
        () => store.replace(session, sha256, bytes),
        () => store.delete(session),
        () => store.olderThan(session, Date.now()),
        () => store.ledger.writeOnce("a.json", "{}"),
        () => store.ledger.list(),
        () => store.assertThere(),
      ];
      const errors = await Promise.all(
        calls.map((call) => call().then(String, (error: unknown) => error)),
      );
      for (const error of errors) {
        expect(error).toMatchObject({ code: "unavailable", retryAfter: 10 });
      }
      expect((await store.probe()).fault).toBeDefined();
      server.mood = "well";
      expect((await store.probe()).fault).toBeUndefined();
      expect(await store.read(session, sha256)).toEqual(bytes);
      // The file that could not be stored is there for the next try.
      await store.put(newId(), sha256, path);
    },
  );

  it("whoever stores a file again that is being set aside keeps it, or is asked to come again", async () => {
    const { store } = await started();
    let [kept, again, aside] = [0, 0, 0];
    for (let n = 0; n < 30; n += 1) {
      const session = newId();
      await store.putBytes(session, sha256, bytes);
      place.age(session, sha256, Date.now() - 2 * DAY);
      const wait = new Promise((done) => setTimeout(done, n / 3));
      const [isAside, code] = await Promise.all([
        store.setAside(session, sha256, Date.now() - DAY, Date.now()),
        wait.then(() => codeOf(store.putBytes(session, sha256, bytes))),
      ]);
      if (isAside) aside += 1;
      if (code === "unavailable") again += 1;
      else {
        kept += 1;
        expect(await store.read(session, sha256)).toEqual(bytes);
      }
    }
    expect(kept + again).toBe(30);
    // Both orders were seen.
    expect([kept > 0, aside > 0]).toEqual([true, true]);
  });
});
