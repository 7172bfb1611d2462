import { existsSync, readFileSync, utimesSync, writeFileSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { newId } from "../../src/base/ids.ts";
import { silentLog } from "../../src/base/log.ts";
import { systemRuntime } from "../../src/base/runtime.ts";
import { PeriodicTask } from "../../src/base/work/periodic-task.ts";
import { BlobSweep } from "../../src/conversations/recording/audio-files/blob-sweep-store.ts";
import { makeWav } from "../support/make-wav.ts";
import { SessionFixture } from "../support/session-fixture.ts";
import { until } from "../support/until.ts";

const TWO_DAYS = 2 * 24 * 60 * 60 * 1000;

describe("audio sweep", () => {
  let fixture: SessionFixture;
  beforeAll(async () => {
    fixture = await SessionFixture.open();
  });
  afterAll(() => fixture.close());

  function age(path: string): void {
    const then = new Date(Date.now() - TWO_DAYS);
    utimesSync(path, then, then);
  }

  async function orphan(sessionId: string, digit: string): Promise<string> {
    const folder = join(fixture.folder, sessionId);
    await mkdir(folder, { recursive: true });
    const path = join(folder, digit.repeat(64));
    writeFileSync(path, "audio");
    return path;
  }

  it("audio sweep: sets old files aside that no chunk names, and removes them 30 days later", async () => {
    const { device } = await fixture.ownDevice();
    const sessionId = await fixture.start(device);
    const wav = makeWav({ frames: 160, seed: 3 });
    await fixture.upload(device, sessionId, 0, wav);
    const [{ name = "" } = {}] = await fixture.sql<{ name: string }>(
      "select encode(sha256, 'hex') as name from chunks where session_id = $1",
      [sessionId],
    );
    const kept = join(fixture.folder, sessionId, name);
    const old = await orphan(sessionId, "a");
    const young = await orphan(sessionId, "b");
    for (const path of [kept, old]) age(path);
    const sweep = new BlobSweep(fixture.blobs, fixture.pool, silentLog);
    expect(await sweep.pass()).toMatchObject({ setAside: 1, aside: 1, removed: 0 });
    expect([kept, old, young].map((path) => existsSync(path))).toEqual([true, false, true]);
    expect(await fixture.blobs.filesAside(sessionId)).toMatchObject([{ sha256: "a".repeat(64) }]);
    const day = 24 * 60 * 60 * 1000;
    utimesSync(young, new Date(Date.now() + 40 * day), new Date(Date.now() + 40 * day));
    expect(await sweep.pass({ now: Date.now() + 29 * day })).toMatchObject({
      aside: 1,
      removed: 0,
    });
    expect(await sweep.pass({ now: Date.now() + 31 * day })).toMatchObject({
      aside: 0,
      removed: 1,
    });
    expect([kept, young].map((path) => existsSync(path))).toEqual([true, true]);
  });

  it("audio sweep: what is aside is put back once a chunk names it, as after a newer backup", async () => {
    const { device } = await fixture.ownDevice();
    const sessionId = await fixture.start(device);
    await fixture.upload(device, sessionId, 0, makeWav({ frames: 160, seed: 4 }));
    const [{ name = "" } = {}] = await fixture.sql<{ name: string }>(
      "select encode(sha256, 'hex') as name from chunks where session_id = $1",
      [sessionId],
    );
    const path = join(fixture.folder, sessionId, name);
    const sound = readFileSync(path);
    age(path);
    const before = Date.now() - TWO_DAYS / 2;
    expect(await fixture.blobs.setAside(sessionId, name, before, Date.now())).toBe(true);
    expect(existsSync(path)).toBe(false);
    const sweep = new BlobSweep(fixture.blobs, fixture.pool, silentLog);
    expect(await sweep.pass()).toMatchObject({ putBack: 1 });
    expect(readFileSync(path)).toEqual(sound);
  });

  it("audio sweep: audio of sessions that the database does not know is counted, never touched", async () => {
    const strays = [await orphan(newId(), "c"), await orphan(newId(), "c")];
    for (const path of strays) age(path);
    const sweep = new BlobSweep(fixture.blobs, fixture.pool, silentLog);
    const year = Date.now() + 400 * 24 * 60 * 60 * 1000;
    for (const now of [Date.now(), year]) {
      const { unknownSessions } = await sweep.pass({ now });
      expect(unknownSessions).toBeGreaterThanOrEqual(2);
    }
    expect(strays.map((path) => existsSync(path))).toEqual([true, true]);
  });

  it("audio sweep: logs of streams that no open chunk names go after 30 days, and others stay", async () => {
    const { device } = await fixture.ownDevice();
    const sessionId = await fixture.start(device);
    const [named, left] = [newId(), newId()];
    for (const log of [named, left]) {
      await fixture.blobs.appendLog(sessionId, log, 0, Buffer.from("audio"));
      age(join(fixture.folder, sessionId, `${log}.log`));
    }
    await fixture.sql(
      `insert into audio_pieces (session_id, sequence, piece, media_type, frames, sample_rate, log)
       values ($1, 0, 0, 'audio/pcm', 1, 16000, $2)`,
      [sessionId, named],
    );
    const sweep = new BlobSweep(fixture.blobs, fixture.pool, silentLog);
    const day = 24 * 60 * 60 * 1000;
    expect(await sweep.pass({ now: Date.now() + 27 * day })).toMatchObject({ removed: 0 });
    expect(await fixture.blobs.logs(sessionId)).toHaveLength(2);
    expect(await sweep.pass({ now: Date.now() + 29 * day })).toMatchObject({ removed: 1 });
    expect(await fixture.blobs.logs(sessionId)).toMatchObject([{ log: named }]);
    await fixture.sql("update sessions set status = 'deleted' where id = $1", [sessionId]);
    await sweep.pass();
    expect(await fixture.blobs.logs(sessionId)).toEqual([]);
  });

  it("audio sweep: what is aside of a deleted session goes with it", async () => {
    const { device } = await fixture.ownDevice();
    const sessionId = await fixture.start(device);
    age(await orphan(sessionId, "a"));
    await fixture.blobs.setAside(sessionId, "a".repeat(64), Date.now() - TWO_DAYS / 2, Date.now());
    await fixture.sql("update sessions set status = 'deleted' where id = $1", [sessionId]);
    const sweep = new BlobSweep(fixture.blobs, fixture.pool, silentLog);
    await sweep.pass();
    expect(await fixture.blobs.filesAside(sessionId)).toEqual([]);
  });

  it("audio sweep: what an upload left of a deleted session goes, however young, pass after pass", async () => {
    const { device } = await fixture.ownDevice();
    const [deleted, live] = [await fixture.start(device), newId()];
    await fixture.sql("update sessions set status = 'deleted' where id = $1", [deleted]);
    const kept = await orphan(live, "e");
    let wake = (): void => {};
    const rests: number[] = [];
    const runtime = {
      ...systemRuntime,
      delay: (ms: number, signal?: AbortSignal) => {
        rests.push(ms);
        return new Promise<void>((resolve) => {
          wake = resolve;
          if (signal?.aborted) resolve();
          signal?.addEventListener("abort", () => resolve());
        });
      },
    };
    const { task } = new BlobSweep(fixture.blobs, fixture.pool, silentLog);
    const sweeping = new PeriodicTask({ ...task, runtime, log: silentLog });
    sweeping.start();
    for (let pass = 1; pass <= 2; pass += 1) {
      await until(() => rests.length === pass, "a pass");
      const path = await orphan(deleted, "f");
      wake();
      await until(() => !existsSync(path), "the audio to go");
    }
    await sweeping.stop();
    expect(existsSync(kept)).toBe(true);
    expect(rests[0]).toBeLessThanOrEqual(3_600_000);
  });

  it("audio sweep: a file that is put again is young again, and is put back", async () => {
    const sessionId = newId();
    const path = await orphan(sessionId, "d");
    age(path);
    const before = Date.now() - TWO_DAYS / 2;
    const sha256 = "d".repeat(64);
    expect(await fixture.blobs.olderThan(sessionId, before)).toEqual([sha256]);
    const again = join(fixture.blobs.temporaryFolder, `${newId()}.upload`);
    writeFileSync(again, "audio");
    await fixture.blobs.put(sessionId, sha256, again);
    expect(await fixture.blobs.olderThan(sessionId, before)).toEqual([]);
    expect(await fixture.blobs.setAside(sessionId, sha256, before, Date.now())).toBe(false);
    expect((await fixture.blobs.read(sessionId, sha256)).toString()).toBe("audio");
    age(path);
    expect(await fixture.blobs.setAside(sessionId, sha256, before, Date.now())).toBe(true);
    expect(await fixture.blobs.setAside(sessionId, sha256, before, Date.now())).toBe(false);
    expect(await fixture.blobs.olderThan(newId(), before)).toEqual([]);
  });
});
