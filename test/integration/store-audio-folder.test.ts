import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { DatabasePool } from "slonik";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { newId } from "../../src/base/ids.ts";
import { claimAudioFolder } from "../../src/features/recording/audio-files/audio-folder-store.ts";
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

  it("is the first one's, and again that one for everybody who mounts it", async () => {
    const shared = folder("shared");
    await Promise.all([1, 2, 3].map(() => claimAudioFolder(fixture.pool, shared)));
    await claimAudioFolder(fixture.pool, shared);
    expect(readdirSync(shared)).toEqual(["store-id"]);
  });

  it("is the same for one that begins while another claims it", async () => {
    const shared = folder("shared");
    // Its first look into the database takes as long as all that the other does.
    const maybeOne: DatabasePool["maybeOne"] = async (query) => {
      await claimAudioFolder(fixture.pool, shared);
      return fixture.pool.maybeOne(query);
    };
    const slow: DatabasePool = Object.create(fixture.pool, { maybeOne: { value: maybeOne } });
    await claimAudioFolder(slow, shared);
    expect(readdirSync(shared)).toEqual(["store-id"]);
  });

  it("with recordings of which the database knows none stays unclaimed, and says what to do", async () => {
    const others = folder("others");
    for (let n = 0; n < 3; n += 1) mkdirSync(join(others, newId()));
    writeFileSync(join(others, "store-id"), `${newId()}\n`);
    const found = await claimAudioFolder(fixture.pool, others);
    expect(found.kind).toBe("foreign");
    expect(found).toMatchObject({ message: expect.stringContaining("audio of 3 sessions") });
    expect(await fixture.sql("select id from audio_folder")).toEqual([]);
  });

  it("with recordings that the database knows is its own, though nothing was claimed before", async () => {
    const { device } = await fixture.ownDevice();
    const session = await fixture.start(device);
    const known = folder("known");
    mkdirSync(join(known, session));
    expect(await claimAudioFolder(fixture.pool, known)).toEqual({ kind: "own" });
    expect(readdirSync(known).sort()).toEqual([session, "store-id"].sort());
  });

  it("of another database stays that one's, though this one has recorded into it meanwhile", async () => {
    const others = folder("others");
    for (let n = 0; n < 3; n += 1) mkdirSync(join(others, newId()));
    expect((await claimAudioFolder(fixture.pool, others)).kind).toBe("foreign");
    const { device } = await fixture.ownDevice();
    mkdirSync(join(others, await fixture.start(device)));
    expect(await claimAudioFolder(fixture.pool, others)).toMatchObject({
      kind: "foreign",
      unknown: 3,
    });
    expect(await fixture.sql("select id from audio_folder")).toEqual([]);
  });

  it("is not another machine's own folder, and the refusal says what to do", async () => {
    const shared = folder("shared");
    await claimAudioFolder(fixture.pool, shared);
    const local = folder("local");
    const refusal = claimAudioFolder(fixture.pool, local);
    await expect(refusal).rejects.toThrow("all machines need one folder");
    const id = readFileSync(join(shared, "store-id"), "utf8").trim();
    await expect(claimAudioFolder(fixture.pool, local)).rejects.toThrow(
      `echo ${id} > ${join(local, "store-id")}`,
    );
    writeFileSync(join(local, "store-id"), `${newId()}\n`);
    await expect(claimAudioFolder(fixture.pool, local)).rejects.toThrow("does not hold");
    // As told.
    writeFileSync(join(local, "store-id"), `${id}\n`);
    await claimAudioFolder(fixture.pool, local);
  });

  it("is one when two begin at once with folders of their own", async () => {
    const claims = ["one", "other"].map((name) => claimAudioFolder(fixture.pool, folder(name)));
    const outcomes = await Promise.allSettled(claims);
    expect(outcomes.map(({ status }) => status).sort()).toEqual(["fulfilled", "rejected"]);
  });
});
