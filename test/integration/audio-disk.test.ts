import { readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { newId } from "../../src/base/ids.ts";
import { FolderBlobs } from "../../src/conversations/recording/audio-store/blobs.ts";
import { codeOf } from "../support/route-call.ts";
import { SmallDisk, whyNoDisk } from "../support/small-disk.ts";

const problem = whyNoDisk();
const title = problem === undefined ? "the audio's disk" : `the audio's disk (skipped: ${problem})`;
const sha256 = "ab".repeat(32);

describe.skipIf(problem !== undefined)(title, () => {
  let disk: SmallDisk;
  let blobs: FolderBlobs;

  beforeEach(async () => {
    disk = new SmallDisk(4);
    blobs = new FolderBlobs(disk.folder);
    await blobs.start();
  });
  afterEach(async () => {
    await blobs.stop();
    disk.close();
  });

  /** One of each way in. */
  async function writes(): Promise<string[]> {
    const received = join(blobs.temporaryFolder, newId());
    await codeOf((async () => writeFileSync(received, "audio", { flag: "a" }))()).catch(() => "");
    return [
      await codeOf(blobs.putBytes(newId(), sha256, Buffer.alloc(65_536))),
      await codeOf(blobs.put(newId(), sha256, received)),
    ];
  }

  it("audio disk: full is storage_full, read-only unavailable, and both heal by themselves", async () => {
    const session = newId();
    await blobs.putBytes(session, sha256, Buffer.from("audio"));
    disk.fill();
    expect(await codeOf(blobs.putBytes(newId(), sha256, Buffer.alloc(65_536)))).toBe(
      "storage_full",
    );
    expect(await blobs.probe()).toMatchObject({ fault: "ENOSPC", room: { free: 0 } });
    disk.empty();
    expect(await writes()).toEqual(["none", "none"]);

    disk.remount("ro");
    expect(await writes()).toEqual(["unavailable", "unavailable"]);
    expect(await codeOf(blobs.replace(session, sha256, Buffer.from("quiet")))).toBe("unavailable");
    expect(await codeOf(blobs.delete(session))).toBe("unavailable");
    expect(await blobs.probe()).toMatchObject({ fault: "EROFS" });
    expect((await blobs.read(session, sha256)).toString()).toBe("audio");
    // A process that starts meanwhile leaves for later what it cannot tidy up.
    await blobs.start();
    disk.remount("rw");
    expect(await writes()).toEqual(["none", "none"]);
    const { fault, room } = await blobs.probe();
    expect([fault, room?.size]).toEqual([undefined, 4 * 1024 ** 2]);
    expect(readdirSync(blobs.temporaryFolder)).toEqual([]);
  });
});
