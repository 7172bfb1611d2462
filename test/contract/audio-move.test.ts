import { createHash, randomBytes } from "node:crypto";
import { existsSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { newId } from "../../src/base/ids.ts";
import { systemRuntime } from "../../src/base/runtime.ts";
import {
  AudioMove,
  type MovePosition,
} from "../../src/conversations/recording/audio-store/audio-move.ts";
import { FolderBlobs } from "../../src/conversations/recording/audio-store/blobs.ts";
import {
  MovingStore,
  STORE_MARK,
} from "../../src/conversations/recording/audio-store/moving-store.ts";
import { Refusal } from "../support/audio-store/s3-server.ts";
import { type MovingPlace, openMoving } from "../support/audio-store/store-places.ts";
import { codeOf } from "../support/route-call.ts";

const MIB = 1024 ** 2;
const hashOf = (bytes: Uint8Array) => createHash("sha256").update(bytes).digest("hex");
const bytes = randomBytes(1_000);
const quiet = Buffer.alloc(1_000);
const sha256 = hashOf(bytes);

/** Audio that is moved while it is in use, cut off and interfered with wherever that can be. */
describe("moving audio", () => {
  let place: MovingPlace;
  afterEach(() => place.close());

  async function started(to: "S3" | "folder" = "S3"): Promise<MovingPlace> {
    place = await openMoving(to);
    await place.store.start();
    return place;
  }

  /** Stores a file of the one name in the former store, for a session of its own. */
  async function former(content: Uint8Array = bytes): Promise<string> {
    const session = newId();
    await place.from.putBytes(session, sha256, content);
    return session;
  }

  async function moveAll(isDry = false, most = { bytes: 1, ms: 60_000 }) {
    const move = new AudioMove(place.store, systemRuntime);
    const done = { files: 0, bytes: 0, erased: 0, left: [] as object[], answers: 0 };
    let after: MovePosition | undefined;
    for (;;) {
      const { signal } = new AbortController();
      const portion = await move.portion({ after, most, isDry, signal });
      done.answers += 1;
      for (const each of ["files", "bytes", "erased"] as const) done[each] += portion[each];
      done.left.push(...portion.left);
      if (portion.next === undefined) return { ...done, isEmpty: portion.isEmpty };
      after = portion.next;
    }
  }

  /**
   * Calls `at` at each moment at which a transfer waits for somebody: by numbers, until there is none. What
   * `at` itself causes goes on undisturbed.
   */
  function interfere(moment: number, at: () => Promise<void>): { wasReached(): boolean } {
    let seen = 0;
    const step = async () => {
      if (seen > moment) return;
      seen += 1;
      if (seen > moment) await at();
    };
    place.server.before = step;
    place.records.before = step;
    return {
      wasReached() {
        place.server.before = undefined;
        place.records.before = undefined;
        return seen > moment;
      },
    };
  }

  const nothingOf = async (session: string) => {
    expect(await place.from.files(session)).toEqual([]);
    expect(await place.to.files(session)).toEqual([]);
  };

  async function erase(session: string): Promise<void> {
    place.records.deleted.add(session);
    await place.store.delete(session);
  }

  async function silence(session: string): Promise<void> {
    expect(await place.store.read(session, sha256)).toHaveLength(bytes.length);
    await place.store.replace(session, sha256, quiet);
  }

  async function isSilent(session: string): Promise<void> {
    expect(await place.to.read(session, sha256)).toEqual(quiet);
    expect(await place.from.files(session)).toEqual([]);
  }

  /** Does one of two while the other is at each of its moments, and the other way round. */
  async function atEachMoment(
    one: (session: string) => Promise<unknown>,
    other: (session: string) => Promise<unknown>,
    check: (session: string) => Promise<void>,
    content: Uint8Array = bytes,
  ): Promise<number> {
    let moments = 0;
    for (const [first, second] of [
      [one, other],
      [other, one],
    ] as const) {
      for (let moment = 0; ; moment += 1) {
        const session = await former(content);
        const interference = interfere(moment, async () => void (await second(session)));
        await first(session);
        if (!interference.wasReached()) break;
        moments += 1;
        await check(session);
        expect((await moveAll()).left).toEqual([]);
        await check(session);
        await place.store.delete(session);
      }
    }
    return moments;
  }

  const transfer = (session: string) => place.store.transfer(session, sha256);

  it.each(["S3", "folder"] as const)(
    "to %s: all files, by pages, and nothing twice",
    async (to) => {
      await started(to);
      const sessions: string[] = [];
      for (let n = 0; n < 7; n += 1) sessions.push(await former());
      const large = Buffer.alloc(9 * MIB, 7);
      const [first = ""] = sessions;
      await place.from.putBytes(first, hashOf(large), large);
      const counted = { files: 8, bytes: 7_000 + large.length, left: [], erased: 0 };
      expect(await moveAll(true)).toMatchObject({ ...counted, isEmpty: false });
      expect(await place.to.files(first)).toEqual([]);
      // Read there until they were moved.
      expect(await place.store.read(first, sha256)).toEqual(bytes);
      const { answers, ...done } = await moveAll();
      expect(done).toEqual({ ...counted, isEmpty: true });
      expect(answers).toBeGreaterThan(1);
      for (const session of sessions) {
        expect(await place.to.read(session, sha256)).toEqual(bytes);
        expect(await place.from.files(session)).toEqual([]);
      }
      expect(large.equals(await place.to.read(first, hashOf(large)))).toBe(true);
      expect(await moveAll()).toMatchObject({ files: 0, isEmpty: true });
    },
  );

  it("a deletion wins, at whatever moment it comes", async () => {
    await started();
    expect(await atEachMoment(transfer, erase, nothingOf)).toBeGreaterThan(6);
  });

  it("a redaction wins, at whatever moment it comes", async () => {
    await started();
    expect(await atEachMoment(transfer, silence, isSilent)).toBeGreaterThan(6);
  });

  it("what was silenced stays so when it is sent again, at whatever moment", async () => {
    await started();
    const resent = (session: string) => place.store.putBytes(session, sha256, bytes);
    const moments = await atEachMoment(transfer, resent, isSilent, quiet);
    expect(moments).toBeGreaterThan(6);
  });

  it("cut off anywhere it leaves each file whole in one of the two, and goes on when run again", async () => {
    await started();
    for (let moment = 0; ; moment += 1) {
      const session = await former();
      const cut = new Refusal(400, "CutOff");
      const interference = interfere(moment, () => {
        // Nothing more is done, as when the process was killed.
        place.server.before = () => Promise.reject(cut);
        return Promise.reject(cut);
      });
      const outcome = await transfer(session).catch(() => "cut off");
      if (!interference.wasReached()) break;
      expect(outcome).toBe("cut off");
      expect(await place.store.read(session, sha256)).toEqual(bytes);
      expect(await moveAll()).toMatchObject({ left: [], isEmpty: true });
      expect(await place.to.read(session, sha256)).toEqual(bytes);
    }
  });

  it("two machines at once move everything, and neither fails", async () => {
    await started();
    const sessions: string[] = [];
    for (let n = 0; n < 20; n += 1) sessions.push(await former());
    const both = await Promise.all([moveAll(), moveAll()]);
    expect(both.map(({ left }) => left)).toEqual([[], []]);
    for (const session of sessions) {
      expect(await place.to.read(session, sha256)).toEqual(bytes);
      expect(await place.from.files(session)).toEqual([]);
    }
  });

  it("another file of the name is left unless the record knows it", async () => {
    await started();
    const session = await former();
    await place.to.putBytes(session, sha256, quiet);
    const left = [{ sessionId: session, sha256, why: "differs" }];
    expect(await moveAll()).toMatchObject({ files: 0, left, isEmpty: false });
    place.records.known.set(sha256, [sha256]);
    expect(await moveAll()).toMatchObject({ files: 0, left, isEmpty: false });
    expect(await place.from.read(session, sha256)).toEqual(bytes);
    place.records.known.set(sha256, [hashOf(quiet)]);
    expect(await moveAll()).toMatchObject({ files: 1, left: [], isEmpty: true });
    expect(await place.store.read(session, sha256)).toEqual(quiet);
  });

  it("a file that cannot be read is left, and told", async () => {
    await started();
    const session = await former();
    await place.from.remove(session, sha256);
    const folder = join(place.from.names.address, session, sha256);
    await former();
    mkdirSync(folder, { recursive: true });
    const left = [{ sessionId: session, sha256, why: "unreadable" }];
    expect(await moveAll()).toMatchObject({ files: 1, left, isEmpty: false });
  });

  it("what is set aside keeps the time since when it is", async () => {
    await started();
    const session = await former();
    await place.from.setAside(session, sha256, Number.POSITIVE_INFINITY, 1_700_000_000_000);
    expect(await moveAll()).toMatchObject({ files: 1, left: [], isEmpty: true });
    expect(await place.to.filesAside(session)).toEqual([{ sha256, since: 1_700_000_000_000 }]);
    expect(await place.from.filesAside(session)).toEqual([]);
    expect(await codeOf(place.store.read(session, sha256))).toBe("not_found");
  });

  it("lends what was in the former store from the new one, and from the former while that takes none", async () => {
    await started();
    const session = await former();
    place.server.mood = "busy";
    await expect(place.store.lend(session, sha256, undefined)).rejects.toThrow();
    place.server.mood = "well";
    place.server.before = async ({ method }) => {
      if (method === "PUT") throw new Refusal(507, "InsufficientStorage");
    };
    const there = await place.store.lend(session, sha256, undefined);
    expect(existsSync(there.path)).toBe(true);
    place.server.before = undefined;
    const lent = await place.store.lend(session, sha256, undefined);
    expect(existsSync(lent.path)).toBe(true);
    lent.release();
    expect(await place.from.files(session)).toEqual([]);
  });

  it("takes mark and ledger over at the start; the former's mark goes when it is empty", async () => {
    place = await openMoving("S3");
    const mark = `${newId()}\n`;
    await place.from.marks.writeOnce(STORE_MARK, mark);
    await place.from.ledger.writeOnce("a-000001.json", "{}");
    await place.store.start();
    expect(await place.to.marks.read(STORE_MARK, 100)).toBe(mark);
    expect(await place.to.ledger.read("a-000001.json", 100)).toBe("{}");
    await place.store.start();
    await moveAll();
    expect(await place.from.marks.has(STORE_MARK)).toBe(false);
    expect(await place.from.ledger.has("a-000001.json")).toBe(true);
  });

  it("refuses another database's store, and a folder that is not there", async () => {
    place = await openMoving("S3");
    await place.from.marks.writeOnce(STORE_MARK, newId());
    await place.to.start();
    await place.to.marks.writeOnce(STORE_MARK, newId());
    await expect(place.store.start()).rejects.toThrow("another database");
    const from = new FolderBlobs(join(place.from.names.address, "none"));
    const store = new MovingStore({ to: place.to, from, records: place.records });
    await expect(store.start()).rejects.toThrow("is not there");
    expect(existsSync(from.names.address)).toBe(false);
  });

  it("says what is wrong when a store fails, and what was moved stays moved", async () => {
    await started();
    for (let n = 0; n < 3; n += 1) await former();
    const failure = (status: number, code: string) => {
      place.server.before = async ({ method }) => {
        if (method === "PUT") throw new Refusal(status, code);
      };
      return moveAll().then(String, (error: Error) => error.message);
    };
    expect(await failure(403, "AccessDenied")).toContain("refuses these credentials");
    expect(await failure(404, "NoSuchBucket")).toContain("There is no such bucket");
    expect(await failure(507, "InsufficientStorage")).toContain("The store is full");
    place.server.before = undefined;
    rmSync(join(place.from.names.address, "tmp"), { recursive: true });
    rmSync(join(place.from.names.address), { recursive: true });
    writeFileSync(place.from.names.address, "");
    const gone = await moveAll().then(String, (error: Error) => error.message);
    expect(gone).toContain("What was moved stays moved");
    rmSync(place.from.names.address);
  });

  it.each(["S3", "folder"] as const)(
    "to %s: a log of a stream is read wherever it is, goes on in a new one, and is brought over",
    async (to) => {
      const { store, from } = await started(to);
      const [session, log, newer] = [newId(), newId(), newId()];
      await from.appendLog(session, log, 0, bytes);
      await from.appendLog(session, log, bytes.length, quiet);
      const all = Buffer.concat([bytes, quiet]);
      expect(all.equals(await store.readLog(session, log))).toBe(true);
      await store.appendLog(session, newer, 0, bytes);
      expect(await from.logs(session)).toHaveLength(1);
      expect(await store.logs(session)).toHaveLength(2);
      expect(await moveAll(true)).toMatchObject({ files: 1 });
      expect(await from.logs(session)).toHaveLength(1);
      expect(await moveAll()).toMatchObject({ files: 1, isEmpty: true });
      expect(await from.logs(session)).toEqual([]);
      expect(all.equals(await store.readLog(session, log))).toBe(true);
      // Of one that was deleted meanwhile nothing comes over.
      const deleted = newId();
      await from.appendLog(deleted, log, 0, bytes);
      place.records.deleted.add(deleted);
      expect(await moveAll()).toMatchObject({ erased: 1, isEmpty: true });
      expect(await store.logs(deleted)).toEqual([]);
    },
  );
});
