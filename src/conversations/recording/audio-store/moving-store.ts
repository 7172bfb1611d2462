import { existsSync } from "node:fs";
import { AppError, isAppError } from "../../../base/errors.ts";
import type { QueueFigures } from "../../../base/queue-metrics.ts";
import type { UploadContent } from "../../../rest/route.ts";
import type { DiskState } from "../durable-files/audio-watch.ts";
import type { HashedFile } from "../integrity/sha256.ts";
import type {
  AsideFile,
  AudioStore,
  LentFile,
  NamedTexts,
  StoredFile,
  StoredLog,
} from "./audio-store.ts";
import { copyOfFile } from "./copy-of-file.ts";

/** The name of the text that tells stores apart. */
export const STORE_MARK = "store-id";
const MOST_MARK_BYTES = 1_024;
/** A file of the ledger is far shorter. */
const MOST_LEDGER_BYTES = 16 * 1024 * 1024;
/** Files of the ledger that are taken over at once. */
const AT_ONCE = 16;

/** What the database says of audio that is being moved. Rejects with `unavailable`. */
export interface MovedRecords {
  isDeleted(sessionId: string): Promise<boolean>;
  /** SHA-256 in hex of what the file may hold; undefined where no chunk names it, or that is not known. */
  digests(sessionId: string, sha256: string): Promise<readonly string[] | undefined>;
}

/**
 * What became of a file: `moved`, `gone` as another process moved or removed it, `erased` with its
 * session, or `differs`: another one has its name in the new store, and it stays where it was.
 */
export type Transfer = "moved" | "gone" | "erased" | "differs";

interface MovingStoreOptions {
  /** Where all audio goes. */
  to: AudioStore;
  /** Where audio was kept. */
  from: AudioStore;
  records: MovedRecords;
}

/**
 * The audio while it is moved from one store to another. Nothing is written to the former one any more:
 * what it has yet is read there, and brought over before it is changed. Two rules make that sound on any
 * number of machines, without a lock. A name is written once, so what the new store has is never written
 * over by what the former one had: a file that was silenced stays silent. And who brought a file over asks
 * the record then whether its session was deleted meanwhile, as an upload does: a deletion commits first,
 * so one of the two removes it.
 */
export class MovingStore implements AudioStore {
  readonly #to: AudioStore;
  readonly #from: AudioStore;
  readonly #records: MovedRecords;

  constructor({ to, from, records }: MovingStoreOptions) {
    this.#to = to;
    this.#from = from;
    this.#records = records;
  }

  get former(): AudioStore {
    return this.#from;
  }

  get names(): AudioStore["names"] {
    return this.#to.names;
  }

  get marks(): NamedTexts {
    return this.#to.marks;
  }

  get ledger(): NamedTexts {
    return this.#to.ledger;
  }

  get queues(): readonly QueueFigures[] {
    return this.#to.queues;
  }

  get temporaryFolder(): string {
    return this.#to.temporaryFolder;
  }

  get uploadsFolder(): string {
    return this.#to.uploadsFolder;
  }

  /** Takes over the mark and the ledger of erasures, which stay in the former store as well. */
  async start(): Promise<void> {
    const { address } = this.#from.names;
    // It would be made otherwise.
    if (this.#from.names.kind === "folder" && !existsSync(address)) {
      const message = `AUDIO_MOVE_FROM ${address} is not there: correct it, or take it away if all audio was moved.`;
      throw new AppError("unavailable", message);
    }
    await this.#from.start();
    await this.#to.start();
    await this.#takeOverMark();
    await Promise.all([this.#from.ledger.start(), this.#to.ledger.start()]);
    const [old, there] = await Promise.all([this.#from.ledger.list(), this.#to.ledger.list()]);
    const known = new Set(there);
    const missing = old.filter((name) => !known.has(name));
    for (let at = 0; at < missing.length; at += AT_ONCE) {
      const names = missing.slice(at, at + AT_ONCE);
      await Promise.all(names.map((name) => this.#takeOverErasures(name)));
    }
  }

  async #takeOverMark(): Promise<void> {
    const [old, there] = await Promise.all(
      [this.#from, this.#to].map(({ marks }) => marks.read(STORE_MARK, MOST_MARK_BYTES)),
    );
    if (old === undefined || old.trim() === there?.trim()) return;
    if (there === undefined && (await this.#to.marks.writeOnce(STORE_MARK, old))) return;
    const current = await this.#to.marks.read(STORE_MARK, MOST_MARK_BYTES);
    if (current?.trim() === old.trim()) return;
    const { names } = this.#to;
    const message = `${names.address} holds the audio of another database than AUDIO_MOVE_FROM ${this.#from.names.address}: correct ${names.setting}.`;
    throw new AppError("unavailable", message);
  }

  async #takeOverErasures(name: string): Promise<void> {
    const text = await this.#from.ledger.read(name, MOST_LEDGER_BYTES);
    if (text !== undefined) await this.#to.ledger.writeOnce(name, text);
  }

  async stop(): Promise<void> {
    await Promise.all([this.#from.stop(), this.#to.stop()]);
  }

  probe(): Promise<DiskState> {
    return this.#to.probe();
  }

  async assertThere(): Promise<void> {
    await Promise.all([this.#from.assertThere(), this.#to.assertThere()]);
  }

  /**
   * Brings one file over, compares what arrived, and removes it from the former store then. Repeatable, and
   * wherever it is cut off the file is in one of them. Rejects with `unavailable` or `storage_full` when a
   * store or the database is away, and with the system's error of this one file.
   */
  async transfer(sessionId: string, sha256: string): Promise<Transfer> {
    if (await this.#isErased(sessionId)) return "erased";
    const copy = await copyOfFile(this.#from, { sessionId, sha256 }, this.temporaryFolder);
    if (copy === undefined) return "gone";
    try {
      if (copy.kind === "memory") await this.#to.putBytes(sessionId, sha256, copy.data);
      else await this.#to.put(sessionId, sha256, copy.path);
    } finally {
      await copy.remove();
    }
    if (await this.#isErased(sessionId)) return "erased";
    return this.#compare(sessionId, sha256, copy.sha256);
  }

  /** Removes all that there is of a session that was deleted. */
  async #isErased(sessionId: string): Promise<boolean> {
    if (!(await this.#records.isDeleted(sessionId))) return false;
    await this.delete(sessionId);
    return true;
  }

  async #compare(sessionId: string, sha256: string, expected: string): Promise<Transfer> {
    const arrived = await this.#to.digest(sessionId, sha256).catch((error: unknown) => {
      if (!isAppError(error, "not_found")) throw error;
      return undefined;
    });
    // Somebody removed it after it had arrived.
    if (arrived === undefined) return "gone";
    if (arrived.sha256 !== expected) {
      const digests = await this.#records.digests(sessionId, sha256);
      if (!digests?.includes(arrived.sha256)) return "differs";
    }
    await this.#from.remove(sessionId, sha256);
    return "moved";
  }

  /** Brings it over if the former store has it. */
  async #here(sessionId: string, sha256: string): Promise<void> {
    if (await this.#from.has(sessionId, sha256)) await this.transfer(sessionId, sha256);
  }

  /** What was sent again and was silenced is silent in the former store yet: so that comes over first. */
  async put(sessionId: string, sha256: string, temporaryPath: string): Promise<unknown> {
    await this.#here(sessionId, sha256);
    return this.#to.put(sessionId, sha256, temporaryPath);
  }

  async putBytes(sessionId: string, sha256: string, bytes: Uint8Array): Promise<void> {
    await this.#here(sessionId, sha256);
    await this.#to.putBytes(sessionId, sha256, bytes);
  }

  read(sessionId: string, sha256: string): Promise<Buffer> {
    return this.#inEither((store) => store.read(sessionId, sha256));
  }

  digest(sessionId: string, sha256: string): Promise<HashedFile> {
    return this.#inEither((store) => store.digest(sessionId, sha256));
  }

  /** What is moved while it is looked for in the one is in the other at the end. */
  async #inEither<T>(ask: (store: AudioStore) => Promise<T>): Promise<T> {
    for (const store of [this.#to, this.#from]) {
      try {
        return await ask(store);
      } catch (error) {
        if (!isAppError(error, "not_found")) throw error;
      }
    }
    return ask(this.#to);
  }

  async has(sessionId: string, sha256: string): Promise<boolean> {
    for (const store of [this.#to, this.#from, this.#to]) {
      if (await store.has(sessionId, sha256)) return true;
    }
    return false;
  }

  /**
   * A file that is lent has to stay where it is: so it is brought over, unless the new store takes none just
   * now.
   */
  async lend(
    sessionId: string,
    sha256: string,
    digests: readonly string[] | undefined,
  ): Promise<LentFile> {
    const lent = await this.#to.lend(sessionId, sha256, digests);
    if (existsSync(lent.path)) return lent;
    lent.release();
    try {
      await this.#here(sessionId, sha256);
    } catch {
      return this.#from.lend(sessionId, sha256, digests);
    }
    return this.#to.lend(sessionId, sha256, digests);
  }

  async replace(sessionId: string, sha256: string, bytes: Uint8Array): Promise<void> {
    await this.#here(sessionId, sha256);
    await this.#to.replace(sessionId, sha256, bytes);
  }

  async restore(sessionId: string, sha256: string, content: UploadContent): Promise<void> {
    await this.#to.restore(sessionId, sha256, content);
    await this.#from.remove(sessionId, sha256);
  }

  async remove(sessionId: string, sha256: string): Promise<void> {
    await this.#from.remove(sessionId, sha256);
    await this.#to.remove(sessionId, sha256);
  }

  async delete(sessionId: string): Promise<number> {
    return (await this.#from.delete(sessionId)) + (await this.#to.delete(sessionId));
  }

  /** Those of which both have something come twice. */
  async *sessions(): AsyncGenerator<readonly string[]> {
    yield* this.#to.sessions();
    yield* this.#from.sessions();
  }

  async files(sessionId: string): Promise<StoredFile[]> {
    const found = [...(await this.#from.files(sessionId)), ...(await this.#to.files(sessionId))];
    return [...new Map(found.map((file) => [file.sha256, file])).values()];
  }

  /** What the former store has is young when it is brought over, and grows old then. */
  olderThan(sessionId: string, instant: number): Promise<string[]> {
    return this.#to.olderThan(sessionId, instant);
  }

  setAside(sessionId: string, sha256: string, before: number, now: number): Promise<boolean> {
    return this.#to.setAside(sessionId, sha256, before, now);
  }

  async *sessionsAside(): AsyncGenerator<readonly string[]> {
    yield* this.#to.sessionsAside();
    yield* this.#from.sessionsAside();
  }

  /** Those of the former store are brought over as they are. */
  filesAside(sessionId: string): Promise<AsideFile[]> {
    return this.#to.filesAside(sessionId);
  }

  putBack(sessionId: string, file: AsideFile): Promise<void> {
    return this.#to.putBack(sessionId, file);
  }

  removeAside(sessionId: string, file: AsideFile): Promise<void> {
    return this.#to.removeAside(sessionId, file);
  }

  get logPaceMs(): number {
    return this.#to.logPaceMs;
  }

  appendLog(sessionId: string, log: string, at: number, bytes: Uint8Array): Promise<void> {
    return this.#to.appendLog(sessionId, log, at, bytes);
  }

  readLog(sessionId: string, log: string): Promise<Buffer> {
    return this.#inEither((store) => store.readLog(sessionId, log));
  }

  async removeLog(sessionId: string, log: string): Promise<void> {
    await this.#from.removeLog(sessionId, log);
    await this.#to.removeLog(sessionId, log);
  }

  async logs(sessionId: string): Promise<StoredLog[]> {
    return [...(await this.#from.logs(sessionId)), ...(await this.#to.logs(sessionId))];
  }

  /** Brings over a log of a stream that was broken off: all its entries as one. */
  async transferLog(sessionId: string, log: string): Promise<Transfer> {
    if (await this.#isErased(sessionId)) return "erased";
    let entries: Buffer;
    try {
      entries = await this.#from.readLog(sessionId, log);
    } catch (error) {
      if (!isAppError(error, "not_found")) throw error;
      return "gone";
    }
    await this.#to.appendLog(sessionId, log, 0, entries);
    if (await this.#isErased(sessionId)) return "erased";
    await this.#from.removeLog(sessionId, log);
    return "moved";
  }

  /** Brings over a file that is set aside, with the time since when it is. */
  async transferAside(sessionId: string, file: AsideFile): Promise<Transfer> {
    const { sha256, since } = file;
    // Where the name is taken again nobody needs the copy.
    if ((await this.#to.has(sessionId, sha256)) || (await this.#from.has(sessionId, sha256))) {
      await this.#from.removeAside(sessionId, file);
      return "gone";
    }
    await this.#from.putBack(sessionId, file);
    const transfer = await this.transfer(sessionId, sha256);
    if (transfer === "moved") {
      await this.#to.setAside(sessionId, sha256, Number.POSITIVE_INFINITY, since);
    }
    return transfer;
  }
}
