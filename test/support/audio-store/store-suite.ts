import { createHash, randomBytes } from "node:crypto";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { newId } from "../../../src/base/ids.ts";
import type { AudioStore } from "../../../src/conversations/recording/audio-store/audio-store.ts";
import { codeOf } from "../route-call.ts";
import type { StorePlace } from "./store-places.ts";

const DAY = 24 * 3_600_000;
const MIB = 1024 ** 2;
const hashOf = (bytes: Uint8Array) => createHash("sha256").update(bytes).digest("hex");

async function idsOf(pages: AsyncIterable<readonly string[]>): Promise<string[]> {
  const ids: string[] = [];
  for await (const page of pages) ids.push(...page);
  return ids.sort();
}

/** What every store of audio keeps, whatever it is made of. */
export function describeAudioStore(name: string, open: () => Promise<StorePlace>): void {
  describe(`audio store: ${name}`, () => suite(open));
}

function suite(open: () => Promise<StorePlace>): void {
  let place: StorePlace;
  let store: AudioStore;

  beforeAll(async () => {
    place = await open();
    store = place.store;
  });
  afterAll(() => place.close());

  function received(bytes: Uint8Array): string {
    const path = join(store.temporaryFolder, newId());
    writeFileSync(path, bytes);
    return path;
  }

  /** Stores it for a session of its own. */
  async function stored(bytes: Uint8Array = randomBytes(1_000)) {
    const [session, sha256] = [newId(), hashOf(bytes)];
    await store.putBytes(session, sha256, bytes);
    return { session, sha256, bytes };
  }

  async function lentBytes(
    session: string,
    sha256: string,
    digests?: readonly string[],
  ): Promise<Uint8Array | undefined> {
    const { path, release } = await store.lend(session, sha256, digests);
    try {
      return existsSync(path) ? readFileSync(path) : undefined;
    } finally {
      release();
    }
  }

  it("gives back what was stored, from memory and from a file, which it takes over", async () => {
    const { session, sha256, bytes } = await stored();
    expect(await store.read(session, sha256)).toEqual(bytes);
    const other = randomBytes(3_000);
    const path = received(other);
    await store.put(session, hashOf(other), path);
    expect(existsSync(path)).toBe(false);
    expect(await store.read(session, hashOf(other))).toEqual(other);
    expect(await store.digest(session, hashOf(other))).toEqual({
      sha256: hashOf(other),
      bytes: 3_000,
    });
  });

  it("keeps files of many megabytes and of none whole", async () => {
    for (const length of [20 * MIB + 7, 0]) {
      const bytes = randomBytes(length);
      const [session, sha256] = [newId(), hashOf(bytes)];
      await store.put(session, sha256, received(bytes));
      expect(await store.digest(session, sha256)).toEqual({ sha256, bytes: length });
      expect(bytes.equals(await store.read(session, sha256))).toBe(true);
    }
  });

  it("writes a name once: what has it stays, however many come at once, large or small", async () => {
    for (const length of [100, 9 * MIB]) {
      const [session, sha256] = [newId(), "ab".repeat(32)];
      const each = Array.from({ length: 5 }, (_, n) => Buffer.alloc(length, n + 1));
      await Promise.all(each.map((bytes) => store.put(session, sha256, received(bytes))));
      const winner = await store.read(session, sha256);
      expect(each.some((bytes) => bytes.equals(winner))).toBe(true);
      await store.putBytes(session, sha256, Buffer.from("late"));
      expect(winner.equals(await store.read(session, sha256))).toBe(true);
    }
  });

  it("lends files to threads by their path, never an older copy than is asked for", async () => {
    const { session, sha256, bytes } = await stored();
    expect(await lentBytes(session, sha256, [sha256])).toEqual(bytes);
    const quiet = Buffer.alloc(bytes.length);
    await store.replace(session, sha256, quiet);
    expect(await lentBytes(session, sha256, [hashOf(quiet)])).toEqual(quiet);
    expect(await lentBytes(session, "cd".repeat(32))).toBeUndefined();
    await store.delete(session);
    expect(await lentBytes(session, sha256, [hashOf(quiet)])).toBeUndefined();
  });

  it("replaces only what is there; a deleted session stays deleted", async () => {
    const { session, sha256 } = await stored();
    await store.replace(session, sha256, Buffer.from("quiet"));
    expect((await store.read(session, sha256)).toString()).toBe("quiet");
    await store.delete(session);
    await expect(store.replace(session, sha256, Buffer.from("quiet"))).rejects.toThrow();
    expect(await codeOf(store.read(session, sha256))).toBe("not_found");
    expect(await codeOf(store.digest(session, sha256))).toBe("not_found");
  });

  it("restores a file over another one, and where there is none", async () => {
    const { session, sha256, bytes } = await stored();
    await store.replace(session, sha256, Buffer.from("damaged"));
    await store.restore(session, sha256, { kind: "memory", data: Buffer.from(bytes) });
    expect(await store.read(session, sha256)).toEqual(bytes);
    const fresh = newId();
    const path = received(bytes);
    await store.restore(fresh, sha256, { kind: "file", path });
    expect(await store.read(fresh, sha256)).toEqual(bytes);
  });

  it("tells which files there are, and removes one of them", async () => {
    const { session, sha256 } = await stored();
    const other = randomBytes(2_000);
    await store.putBytes(session, hashOf(other), other);
    const found = await store.files(session);
    expect(found.sort((a, b) => a.bytes - b.bytes)).toEqual([
      { sha256, bytes: 1_000 },
      { sha256: hashOf(other), bytes: 2_000 },
    ]);
    expect(await store.has(session, sha256)).toBe(true);
    for (let n = 0; n < 2; n += 1) await store.remove(session, sha256);
    expect(await store.has(session, sha256)).toBe(false);
    expect(await codeOf(store.read(session, sha256))).toBe("not_found");
    expect(await store.read(session, hashOf(other))).toEqual(other);
    await store.remove(session, hashOf(other));
    expect(await store.files(session)).toEqual([]);
    expect(await idsOf(store.sessions())).not.toContain(session);
  });

  it("deletes all of a session and nothing else, and again without complaint", async () => {
    const [gone, kept] = [await stored(), await stored()];
    const { session, sha256 } = gone;
    const aside = randomBytes(100);
    await store.putBytes(session, hashOf(aside), aside);
    place.age(session, hashOf(aside), Date.now() - 2 * DAY);
    expect(await store.setAside(session, hashOf(aside), place.before, Date.now())).toBe(true);
    expect(await store.delete(session)).toBe(2);
    expect(await store.delete(session)).toBe(0);
    expect(await codeOf(store.read(session, sha256))).toBe("not_found");
    expect(await store.filesAside(session)).toEqual([]);
    expect(await store.read(kept.session, kept.sha256)).toEqual(kept.bytes);
  });

  it("names all sessions, page by page, and nothing that lies beside them", async () => {
    const sessions: string[] = [];
    for (let n = 0; n < 12; n += 1) sessions.push((await stored()).session);
    expect(await store.ledger.writeOnce(`${newId()}-000001.json`, "{}")).toBe(true);
    const found = await idsOf(store.sessions());
    expect(found).toEqual(expect.arrayContaining(sessions));
    expect(new Set(found).size).toBe(found.length);
    for (const session of sessions) await store.delete(session);
    const left = await idsOf(store.sessions());
    expect(left.filter((each) => sessions.includes(each))).toEqual([]);
  });

  it("sets old files aside, back in their place and away for good", async () => {
    const { session, sha256, bytes } = await stored();
    const [young, { before }, now] = [Date.now() - DAY, place, Date.now()];
    expect(await store.olderThan(session, young)).toEqual([]);
    expect(await store.setAside(session, sha256, young, now)).toBe(false);
    expect(await store.read(session, sha256)).toEqual(bytes);
    place.age(session, sha256, now - 2 * DAY);
    expect(await store.olderThan(session, before)).toEqual([sha256]);
    expect(await store.setAside(session, sha256, before, now)).toBe(true);
    expect(await store.setAside(session, sha256, before, now)).toBe(false);
    expect(await codeOf(store.read(session, sha256))).toBe("not_found");
    expect(await idsOf(store.sessionsAside())).toContain(session);
    const [file] = await store.filesAside(session);
    expect(file).toEqual({ sha256, since: now });
    if (file === undefined) return;
    await store.putBack(session, file);
    expect(await store.read(session, sha256)).toEqual(bytes);
    expect(await store.filesAside(session)).toEqual([]);
    place.age(session, sha256, now - 2 * DAY);
    await store.setAside(session, sha256, before, now);
    await store.removeAside(session, file);
    expect(await store.filesAside(session)).toEqual([]);
    expect(await codeOf(store.read(session, sha256))).toBe("not_found");
  });

  it("makes a file young again that is stored again, so that it is not set aside", async () => {
    const { session, sha256, bytes } = await stored();
    place.age(session, sha256, Date.now() - 2 * DAY);
    await store.putBytes(session, sha256, bytes);
    expect(await store.olderThan(session, Date.now() - DAY)).toEqual([]);
    expect(await store.setAside(session, sha256, Date.now() - DAY, Date.now())).toBe(false);
    expect(await store.read(session, sha256)).toEqual(bytes);
  });

  it("keeps texts beside the audio that are written once", async () => {
    const name = `${newId()}-000001.json`;
    expect(await store.ledger.has(name)).toBe(false);
    expect(await store.ledger.read(name, 100)).toBeUndefined();
    const written = await Promise.all(
      ["one", "two"].map((text) => store.ledger.writeOnce(name, text)),
    );
    expect(written.filter((each) => each)).toHaveLength(1);
    expect(await store.ledger.read(name, 100)).toBe(written[0] ? "one" : "two");
    expect(await store.ledger.has(name)).toBe(true);
    expect(await store.ledger.list()).toContain(name);
    expect(await store.ledger.read(name, 2)).toBe("too long");
    expect(store.marks.commandToWrite("store-id", "x")).toContain("store-id");
    for (let n = 0; n < 2; n += 1) await store.ledger.remove(name);
    expect(await store.ledger.has(name)).toBe(false);
  });

  it("keeps a log of a stream entry by entry, beside the files of its session and apart from them", async () => {
    const [session, log, other] = [newId(), newId(), newId()];
    expect(store.logPaceMs).toBeGreaterThan(0);
    expect(await codeOf(store.readLog(session, log))).toBe("not_found");
    const entries = [1_000, 1, 70_000, 300].map((length) => randomBytes(length));
    let at = 0;
    for (const entry of entries) {
      await store.appendLog(session, log, at, entry);
      at += entry.byteLength;
    }
    const all = Buffer.concat(entries);
    expect(all.equals(await store.readLog(session, log))).toBe(true);
    await store.appendLog(session, other, 0, all);
    expect((await store.logs(session)).map((each) => each.log).sort()).toEqual([log, other].sort());
    for (const each of await store.logs(session)) {
      expect(Math.abs(each.at - Date.now())).toBeLessThan(60_000);
    }
    expect(await store.files(session)).toEqual([]);
    expect(await store.olderThan(session, Date.now() + DAY)).toEqual([]);
    expect(await idsOf(store.sessions())).toContain(session);
    for (let n = 0; n < 2; n += 1) await store.removeLog(session, log);
    expect(await codeOf(store.readLog(session, log))).toBe("not_found");
    expect(all.equals(await store.readLog(session, other))).toBe(true);
    await store.removeLog(session, other);
    expect(await idsOf(store.sessions())).not.toContain(session);
    expect(await codeOf((async () => store.appendLog(session, "../x", 0, all))())).toBe(
      "bad_request",
    );
  });

  it("keeps many logs at the same time, and each goes with its session", async () => {
    const sessions = Array.from({ length: 20 }, () => ({ session: newId(), log: newId() }));
    const entry = randomBytes(500);
    const write = async ({ session, log }: { session: string; log: string }) => {
      for (let n = 0; n < 5; n += 1) await store.appendLog(session, log, n * 500, entry);
    };
    await Promise.all(sessions.map(write));
    for (const { session, log } of sessions) {
      expect(await store.readLog(session, log)).toHaveLength(2_500);
      expect(await store.delete(session)).toBeGreaterThan(0);
      expect(await store.logs(session)).toEqual([]);
      expect(await codeOf(store.readLog(session, log))).toBe("not_found");
    }
  });

  it("is there, takes files, and leaves none of its tries behind", async () => {
    await store.assertThere();
    expect((await store.probe()).fault).toBeUndefined();
  });

  it("never touches what has no id of a session for its name", async () => {
    const sha256 = "ab".repeat(32);
    for (const session of ["..", "../x", "tmp", "erasures", ""]) {
      expect(await codeOf((async () => store.read(session, sha256))())).toBe("bad_request");
      expect(await codeOf((async () => store.delete(session))())).toBe("bad_request");
      expect(await codeOf((async () => store.lend(session, sha256, undefined))())).toBe(
        "bad_request",
      );
    }
    expect(await codeOf((async () => store.read(newId(), "../x"))())).toBe("bad_request");
  });
}
