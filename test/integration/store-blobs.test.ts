import {
  existsSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { newId } from "../../src/base/ids.ts";
import { FolderBlobs } from "../../src/conversations/recording/audio-store/blobs.ts";
import { codeOf } from "../support/route-call.ts";

const sha256 = "ab".repeat(32);

describe("blobs", () => {
  let folder: string;
  let blobs: FolderBlobs;

  beforeEach(async () => {
    folder = mkdtempSync(join(tmpdir(), "blobs-"));
    blobs = new FolderBlobs(folder);
    await blobs.start();
  });
  afterEach(async () => {
    await blobs.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  function temporary(text: string, name: string = newId()): string {
    const path = join(blobs.temporaryFolder, name);
    writeFileSync(path, text);
    return path;
  }

  it("blobs: take a file over and give its bytes back", async () => {
    const session = newId();
    const from = temporary("audio");
    await blobs.put(session, sha256, from);
    const { path } = await blobs.lend(session, sha256);
    expect(path).toBe(join(folder, session, sha256));
    expect(existsSync(from)).toBe(false);
    expect((await blobs.read(session, sha256)).toString()).toBe("audio");
  });

  it("blobs: the same bytes many times at once are one file", async () => {
    const session = newId();
    await Promise.all(
      Array.from({ length: 10 }, () => blobs.put(session, sha256, temporary("audio"))),
    );
    expect(readdirSync(join(folder, session))).toEqual([sha256]);
    expect((await blobs.read(session, sha256)).toString()).toBe("audio");
  });

  it("blobs: a session's audio is deleted whole, and again without complaint", async () => {
    const [session, other] = [newId(), newId()];
    await blobs.put(session, sha256, temporary("audio"));
    await blobs.put(other, sha256, temporary("audio"));
    await blobs.delete(session);
    await blobs.delete(session);
    expect(await codeOf(blobs.read(session, sha256))).toBe("not_found");
    expect((await blobs.read(other, sha256)).toString()).toBe("audio");
  });

  it("blobs: bytes from memory, of many sessions at once, are each a file of their own", async () => {
    const sessions = Array.from({ length: 20 }, newId);
    const bytesOf = (session: string) => Buffer.from(`audio of ${session}`);
    const twice = [...sessions, ...sessions];
    await Promise.all(twice.map((each) => blobs.putBytes(each, sha256, bytesOf(each))));
    for (const session of sessions) {
      expect(readdirSync(join(folder, session))).toEqual([sha256]);
      expect(await blobs.read(session, sha256)).toEqual(bytesOf(session));
    }
    expect(readdirSync(blobs.temporaryFolder)).toEqual([]);
  });

  it("blobs: what has the name already stays as it is, but is young again", async () => {
    const session = newId();
    await blobs.putBytes(session, sha256, Buffer.from("audio"));
    await blobs.replace(session, sha256, Buffer.from("     "));
    const path = join(folder, session, sha256);
    utimesSync(path, 1_000, 1_000);
    await blobs.putBytes(session, sha256, Buffer.from("audio"));
    expect((await blobs.read(session, sha256)).toString()).toBe("     ");
    expect(Date.now() - statSync(path).mtimeMs).toBeLessThan(60_000);
  });

  it("blobs: a write that fails is told to its own caller, and the next is taken", async () => {
    const [blocked, other] = [newId(), newId()];
    // A file where the session's folder should be.
    writeFileSync(join(folder, blocked), "");
    const [bad, good] = await Promise.allSettled([
      blobs.putBytes(blocked, sha256, Buffer.from("audio")),
      blobs.putBytes(other, sha256, Buffer.from("audio")),
    ]);
    expect([bad?.status, good?.status]).toEqual(["rejected", "fulfilled"]);
    expect(readdirSync(blobs.temporaryFolder)).toEqual([]);
    await blobs.stop();
    const again = newId();
    await blobs.putBytes(again, sha256, Buffer.from("audio"));
    expect((await blobs.read(again, sha256)).toString()).toBe("audio");
  });

  it("blobs: take a file over from another file system", async ({ skip }) => {
    const elsewhere = "/dev/shm";
    if (!existsSync(elsewhere) || statSync(elsewhere).dev === statSync(folder).dev) skip();
    const from = join(elsewhere, newId());
    writeFileSync(from, "audio");
    const session = newId();
    try {
      await blobs.put(session, sha256, from);
      expect((await blobs.read(session, sha256)).toString()).toBe("audio");
      expect(readdirSync(blobs.temporaryFolder)).toEqual([]);
    } finally {
      rmSync(from, { force: true });
    }
  });

  it("blobs: names that are no ids never reach the file system", async () => {
    for (const session of ["..", "../x", "tmp", ""]) {
      expect(await codeOf((async () => blobs.read(session, sha256))())).toBe("bad_request");
      expect(await codeOf((async () => blobs.delete(session))())).toBe("bad_request");
    }
    expect(await codeOf((async () => blobs.read(newId(), "../x"))())).toBe("bad_request");
  });

  it("blobs: what was left half received goes at start, what is being received stays", async () => {
    const old = temporary("half", "old");
    const fresh = temporary("half", "fresh");
    const longAgo = new Date(Date.now() - 2 * 60 * 60 * 1_000);
    utimesSync(old, longAgo, longAgo);
    await blobs.start();
    expect([existsSync(old), existsSync(fresh)]).toEqual([false, true]);
  });
});
