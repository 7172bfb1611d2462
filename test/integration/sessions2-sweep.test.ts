import { existsSync, utimesSync, writeFileSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { newId } from "../../src/base/ids.ts";
import { silentLog } from "../../src/base/log.ts";
import { BlobSweep } from "../../src/store/blob-sweep.ts";
import { makeWav } from "../support/make-wav.ts";
import { SessionHouse } from "../support/session-house.ts";

const TWO_DAYS = 2 * 24 * 60 * 60 * 1000;

describe("audio sweep", () => {
  let house: SessionHouse;
  beforeAll(async () => {
    house = await SessionHouse.open();
  });
  afterAll(() => house.close());

  function age(path: string): void {
    const then = new Date(Date.now() - TWO_DAYS);
    utimesSync(path, then, then);
  }

  async function orphan(sessionId: string, digit: string): Promise<string> {
    const folder = join(house.folder, sessionId);
    await mkdir(folder, { recursive: true });
    const path = join(folder, digit.repeat(64));
    writeFileSync(path, "audio");
    return path;
  }

  it("audio sweep: takes old files that no chunk names, and nothing else", async () => {
    const { device } = await house.ownDevice();
    const sessionId = await house.start(device);
    const wav = makeWav({ frames: 160, seed: 3 });
    await house.upload(device, sessionId, 0, wav);
    const [{ name = "" } = {}] = await house.sql<{ name: string }>(
      "select encode(sha256, 'hex') as name from chunks where session_id = $1",
      [sessionId],
    );
    const kept = join(house.folder, sessionId, name);
    const old = await orphan(sessionId, "a");
    const young = await orphan(sessionId, "b");
    const stray = await orphan(newId(), "c");
    for (const path of [kept, old, stray]) age(path);
    const sweep = new BlobSweep(house.blobs, house.pool, silentLog);
    expect(await sweep.run()).toBe(2);
    expect([kept, old, young, stray].map((path) => existsSync(path))).toEqual([
      true,
      false,
      true,
      false,
    ]);
    expect(await sweep.run()).toBe(0);
    await sweep.stop();
  });

  it("audio sweep: a file that is put again is young again, and is put back", async () => {
    const sessionId = newId();
    const path = await orphan(sessionId, "d");
    age(path);
    const before = Date.now() - TWO_DAYS / 2;
    const sha256 = "d".repeat(64);
    expect(await house.blobs.olderThan(sessionId, before)).toEqual([sha256]);
    const again = join(house.blobs.temporaryFolder, `${newId()}.upload`);
    writeFileSync(again, "audio");
    await house.blobs.put(sessionId, sha256, again);
    expect(await house.blobs.olderThan(sessionId, before)).toEqual([]);
    expect(await house.blobs.removeOld(sessionId, sha256, before)).toBe(false);
    expect((await house.blobs.read(sessionId, sha256)).toString()).toBe("audio");
    age(path);
    expect(await house.blobs.removeOld(sessionId, sha256, before)).toBe(true);
    expect(await house.blobs.removeOld(sessionId, sha256, before)).toBe(false);
    expect(await house.blobs.olderThan(newId(), before)).toEqual([]);
  });
});
