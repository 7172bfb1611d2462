import { createHash } from "node:crypto";
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { BackupFolder } from "../../../../deploy/backup/backup-folder.ts";
import { makeKey } from "../../../../deploy/backup/encryption.ts";
import type { Manifest } from "../../../../deploy/backup/manifest.ts";
import { UnexpectedContent } from "../../../../deploy/backup/objects.ts";
import { pruneBackups } from "../../../../deploy/backup/prune.ts";
import { readStream, storeStream } from "../../../../deploy/backup/streams.ts";

const STORE = "0190a000-0000-7000-8000-000000000001";
const SESSION = "0190a000-0000-7000-8000-000000000002";
const AT = "2026-11-29T10:00:00.000Z";
const MIB = 1024 * 1024;
const never = new AbortController().signal;

async function* once(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes;
}

function digest(bytes: Uint8Array): string {
  return createHash("sha256").update(bytes).digest("hex");
}

describe("a folder of backups", () => {
  let scratch: string;
  let path: string;
  const opened: BackupFolder[] = [];

  beforeEach(() => {
    scratch = mkdtempSync(join(tmpdir(), "voice-backups-"));
    path = join(scratch, "backups");
  });

  afterEach(() => {
    for (const folder of opened.splice(0)) folder.close();
    rmSync(scratch, { recursive: true, force: true });
  });

  async function open(how: { store?: string; passphrase?: string } = { store: STORE }) {
    const folder = await BackupFolder.open(path, { passphrase: undefined, ...how });
    opened.push(folder);
    return folder;
  }

  /** Gives the folder back. */
  function close(folder: BackupFolder): void {
    opened.splice(opened.indexOf(folder), 1);
    folder.close();
  }

  /** A backup of one file of sound. */
  async function backUp(folder: BackupFolder, sound: string): Promise<Manifest> {
    const { sha256, bytes } = await folder.objects.putBytes(Buffer.from(sound));
    const line = Buffer.from(`${SESSION} ${sha256} ${sha256} ${bytes}\n`);
    const list = await storeStream(folder.objects, once(line));
    return folder.finish({
      release: "1.0.0",
      record: { at: AT, migrations: [], tables: [], sequences: [] },
      sound: { files: 1, bytes, list, lacking: [], erased: 0 },
      files: [],
      ledger: [],
    });
  }

  const objects = () =>
    readdirSync(join(path, "objects"), { recursive: true, withFileTypes: true });
  const stored = () =>
    objects()
      .filter((each) => each.isFile())
      .map(({ name }) => name);

  it("is for its owner alone", async () => {
    const folder = await open();
    await backUp(folder, "sound");
    for (const each of [path, ...readdirSync(path, { recursive: true })]) {
      const { mode } = statSync(each === path ? path : join(path, String(each)));
      expect(mode & 0o077, String(each)).toBe(0);
    }
  });

  it("a second program at the same time is refused, and comes in when the first is through", async () => {
    const first = await open();
    await expect(open()).rejects.toThrow(/another backup or restore is at work/);
    close(first);
    await open();
  });

  it("what was copied without an end is no backup, and is not copied again", async () => {
    const interrupted = await open();
    await interrupted.objects.putBytes(Buffer.from("sound"));
    writeFileSync(join(path, "objects/tmp/half"), "so");
    close(interrupted);
    const next = await open();
    expect(await next.list()).toEqual([]);
    await expect(next.read()).rejects.toThrow(/holds no whole backup/);
    await backUp(next, "sound");
    expect(readdirSync(join(path, "objects/tmp"))).toEqual([]);
    // The list alone: the sound was there.
    expect(next.objects.written.objects).toBe(1);
    expect(await next.list()).toHaveLength(1);
  });

  it("two backups of one moment have names of their own, in order", async () => {
    const folder = await open();
    const names = [await backUp(folder, "one"), await backUp(folder, "two")];
    expect(await folder.list()).toEqual(names.map(({ name }) => name));
    expect((await folder.read()).name).toBe(names[1]?.name);
    expect((await folder.read(names[0]?.name)).sound.files).toBe(1);
  });

  it("a manifest that is cut off is told, and so is a name that is none", async () => {
    const folder = await open();
    const { name } = await backUp(folder, "sound");
    await expect(folder.read("yesterday")).rejects.toThrow(/no backup yesterday/);
    const file = join(path, "backups", `${name}.manifest`);
    truncateSync(file, statSync(file).size - 10);
    await expect(folder.read()).rejects.toThrow(/is cut off or changed/);
  });

  it("backups of a newer release, of another installation and of nobody are told", async () => {
    close(await open());
    await expect(open({ store: SESSION })).rejects.toThrow(/another installation/);
    const marker = join(path, "backup.json");
    writeFileSync(
      marker,
      JSON.stringify({ ...JSON.parse(readFileSync(marker, "utf8")), version: 2 }),
    );
    await expect(open({})).rejects.toThrow(/made by a newer release/);
    path = join(scratch, "other");
    await expect(open({})).rejects.toThrow(/there is no folder/);
    mkdirSync(path);
    await expect(open({})).rejects.toThrow(/not a folder of backups/);
    writeFileSync(join(path, "thesis.txt"), "mine");
    await expect(open()).rejects.toThrow(/not a folder of backups/);
  });

  it("with a passphrase nothing shows, and it does not open without", async () => {
    const passphrase = "correct horse battery staple";
    const { file } = await makeKey(passphrase, 2 ** 10);
    close(await open());
    const marker = join(path, "backup.json");
    const text = JSON.stringify({ ...JSON.parse(readFileSync(marker, "utf8")), sealed: true });
    writeFileSync(marker, text);
    writeFileSync(join(path, "key.json"), file);
    const encrypted = await open({ store: STORE, passphrase });
    await backUp(encrypted, "what was said");
    close(encrypted);
    const files = readdirSync(path, { recursive: true, withFileTypes: true })
      .filter((each) => each.isFile())
      .map((each) => readFileSync(join(each.parentPath, each.name), "latin1"));
    expect(files.join("")).not.toContain("what was said");
    expect(files.join("")).not.toContain(SESSION);
    expect(stored()).not.toContain(digest(Buffer.from("what was said")));
    await expect(open({})).rejects.toThrow(/are encrypted/);
    await expect(open({ passphrase: "another passphrase" })).rejects.toThrow(/does not open/);
    const again = await open({ passphrase });
    expect((await again.read()).sound.files).toBe(1);
  });

  it("a passphrase for a folder that is not encrypted is refused", async () => {
    close(await open());
    await expect(open({ passphrase: "correct horse battery" })).rejects.toThrow(/not encrypted/);
  });

  it("an object that is gone, cut or changed is told, and is copied again once it was put aside", async () => {
    const folder = await open();
    const { sha256 } = await folder.objects.putBytes(Buffer.from("sound"));
    const file = join(path, "objects", sha256.slice(0, 2), sha256);
    const read = async () => {
      for await (const _piece of folder.objects.read(sha256));
    };
    await read();
    for (const damage of ["soun", "Sound", ""]) {
      writeFileSync(file, damage);
      await expect(read(), damage).rejects.toThrow(/cut off or changed/);
    }
    await folder.objects.discard(sha256);
    await expect(read()).rejects.toThrow(/is gone/);
    await folder.objects.putBytes(Buffer.from("sound"));
    await read();
  });

  it("a file that holds none of what it may hold is not kept", async () => {
    const folder = await open();
    const file = join(scratch, "sound");
    writeFileSync(file, "changed");
    const expected = [digest(Buffer.from("sound"))];
    await expect(folder.objects.putFile(file, expected)).rejects.toThrow(UnexpectedContent);
    await expect(folder.objects.putFile(join(scratch, "none"))).rejects.toThrow(/ENOENT/);
    expect(stored()).toEqual([]);
    await folder.objects.putFile(file);
    expect(stored()).toEqual([digest(Buffer.from("changed"))]);
  });

  it("content that grew is copied from where it grew", async () => {
    const { objects: all } = await open();
    const block = (fill: number, length: number) => Buffer.alloc(length * MIB, fill);
    const before = Buffer.concat([block(1, 4), block(2, 4), block(3, 1)]);
    const first = await storeStream(all, once(before));
    expect(first.pieces).toHaveLength(3);
    expect(all.written.objects).toBe(3);
    const after = Buffer.concat([before, block(4, 1)]);
    const second = await storeStream(all, once(after));
    expect(second.pieces.slice(0, 2)).toEqual(first.pieces.slice(0, 2));
    expect(all.written.objects).toBe(4);
    const hash = createHash("sha256");
    for await (const piece of readStream(all, second)) hash.update(piece);
    expect(hash.digest("hex")).toBe(digest(after));
  });

  it("older backups go with what they alone held", async () => {
    const folder = await open();
    const [one, two] = ["one", "two"].map((text) => digest(Buffer.from(text)));
    await backUp(folder, "one");
    await backUp(folder, "two");
    const last = await backUp(folder, "two");
    expect(await pruneBackups(folder, 1, never)).toMatchObject({ backups: 2 });
    expect(await folder.list()).toEqual([last.name]);
    expect(stored()).toContain(two);
    expect(stored()).not.toContain(one);
    for await (const _piece of readStream(folder.objects, last.sound.list));
  });

  it("nothing is removed when a backup that stays cannot be read", async () => {
    const folder = await open();
    await backUp(folder, "one");
    const { name } = await backUp(folder, "two");
    writeFileSync(join(path, "backups", `${name}.manifest`), "");
    const before = stored();
    await expect(pruneBackups(folder, 1, never)).rejects.toThrow(/is cut off or changed/);
    expect(await folder.list()).toHaveLength(2);
    expect(stored()).toEqual(before);
  });
});
