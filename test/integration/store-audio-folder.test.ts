import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { DatabasePool } from "slonik";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { newId } from "../../src/base/ids.ts";
import {
  type AudioFolder,
  claimAudioStore,
} from "../../src/conversations/recording/audio-files/audio-folder-store.ts";
import { FolderBlobs } from "../../src/conversations/recording/audio-store/blobs.ts";
import { makeScratchFolder } from "../support/scratch-folder.ts";
import { SessionFixture } from "../support/session-fixture.ts";

describe("audio folder: one for all processes of a database", () => {
  let fixture: SessionFixture;
  let scratch: string;

  beforeEach(async () => {
    fixture = await SessionFixture.open();
    scratch = makeScratchFolder("audio");
  });
  afterEach(() => fixture.close());

  function folder(name: string): string {
    const path = join(scratch, name);
    mkdirSync(path, { recursive: true });
    return path;
  }

  async function claim(path: string, pool: DatabasePool = fixture.pool): Promise<AudioFolder> {
    const store = new FolderBlobs(path);
    await store.start();
    return claimAudioStore(pool, store).finally(() => store.stop());
  }

  it("is the first one's, and again that one for everybody who mounts it", async () => {
    const shared = folder("shared");
    await Promise.all([1, 2, 3].map(() => claim(shared)));
    await claim(shared);
    expect(readdirSync(shared).sort()).toEqual(["store-id", "tmp"]);
  });

  it("is the same for one that begins while another claims it", async () => {
    const shared = folder("shared");
    // Its first look into the database takes as long as all that the other does.
    const maybeOne: DatabasePool["maybeOne"] = async (query) => {
      await claim(shared);
      return fixture.pool.maybeOne(query);
    };
    const slow: DatabasePool = Object.create(fixture.pool, { maybeOne: { value: maybeOne } });
    await claim(shared, slow);
    expect(readdirSync(shared).sort()).toEqual(["store-id", "tmp"]);
  });

  it("with recordings of which the database knows none stays unclaimed, and says what to do", async () => {
    const others = folder("others");
    for (let n = 0; n < 3; n += 1) mkdirSync(join(others, newId()));
    writeFileSync(join(others, "store-id"), `${newId()}\n`);
    const found = await claim(others);
    expect(found.kind).toBe("foreign");
    expect(found).toMatchObject({ message: expect.stringContaining("audio of 3 sessions") });
    expect(await fixture.sql("select id from audio_folder")).toEqual([]);
  });

  it("with recordings that the database knows is its own, though nothing was claimed before", async () => {
    const { device } = await fixture.ownDevice();
    const session = await fixture.start(device);
    const known = folder("known");
    mkdirSync(join(known, session));
    expect(await claim(known)).toEqual({ kind: "own" });
    expect(readdirSync(known).sort()).toEqual([session, "store-id", "tmp"].sort());
  });

  it("of another database stays that one's, though this one has recorded into it meanwhile", async () => {
    const others = folder("others");
    for (let n = 0; n < 3; n += 1) mkdirSync(join(others, newId()));
    expect((await claim(others)).kind).toBe("foreign");
    const { device } = await fixture.ownDevice();
    mkdirSync(join(others, await fixture.start(device)));
    expect(await claim(others)).toMatchObject({
      kind: "foreign",
      unknown: 3,
    });
    expect(await fixture.sql("select id from audio_folder")).toEqual([]);
  });

  it("is not another machine's own folder, and the refusal says what to do", async () => {
    const shared = folder("shared");
    await claim(shared);
    const local = folder("local");
    const refusal = claim(local);
    await expect(refusal).rejects.toThrow("all machines need one folder");
    const id = readFileSync(join(shared, "store-id"), "utf8").trim();
    await expect(claim(local)).rejects.toThrow(`echo ${id} > ${join(local, "store-id")}`);
    writeFileSync(join(local, "store-id"), `${newId()}\n`);
    await expect(claim(local)).rejects.toThrow("does not hold");
    // As told.
    writeFileSync(join(local, "store-id"), `${id}\n`);
    await claim(local);
  });

  it("is one when two begin at once with folders of their own", async () => {
    const claims = ["one", "other"].map((name) => claim(folder(name)));
    const outcomes = await Promise.allSettled(claims);
    expect(outcomes.map(({ status }) => status).sort()).toEqual(["fulfilled", "rejected"]);
  });
});
