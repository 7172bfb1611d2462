import { createHash } from "node:crypto";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { AppError, isAppError } from "../../../base/errors.ts";
import { isId, newId } from "../../../base/ids.ts";
import type { QueueFigures } from "../../../base/queue-metrics.ts";
import { FairTurns } from "../../../base/work/fair-turns.ts";
import type { UploadContent } from "../../../rest/route.ts";
import type { DiskState } from "../durable-files/audio-watch.ts";
import type { HashedFile } from "../integrity/sha256.ts";
import type { AsideFile, AudioStore, LentFile, StoredFile, StoredLog } from "./audio-store.ts";
import { LocalCopies } from "./local-copies.ts";
import { NamedObjects } from "./named-objects.ts";
import { ObjectLogs } from "./object-logs.ts";
import { ReceivingFolders } from "./receiving-folders.ts";
import { S3Bucket, type S3Settings } from "./s3-bucket.ts";
import { s3FaultText, s3ReasonOf } from "./s3-faults.ts";
import type { ObjectContent } from "./s3-writes.ts";

const SHA256 = /^[0-9a-f]{64}$/;
const ASIDE = "set-aside/";
const ASIDE_NAME = /^([0-9a-f]{64})\.(\d+)$/;
const TRIES = "tmp/";
const ATTEMPTS = 3;
/** A stream's messages that come within this time go as one object: each is a request that is paid. */
const LOG_PACE_MS = 250;
/**
 * So long after the copy of a file is aside its original may yet be removed, milliseconds; and so long
 * nobody who stores the file again counts on the original.
 */
const REMOVAL_MS = 60_000;
const DOUBT_MS = 2 * REMOVAL_MS;
/** Files on their way to the store, each of at most a part in memory. */
const TURNS = {
  ...{ queue: "audio_files", what: "Storing audio", atOnce: 32, atOnceOfOne: 16 },
  ...{ waiting: { capacity: 1_024, share: 256 }, longestWaitMs: 20_000, retryAfter: 10 },
};

interface S3BlobsOptions extends S3Settings {
  /** A folder of this machine, for files that are being received and copies that are read. */
  folder: string;
  /** Objects per answer of a list; 1,000 by default. */
  pageSize?: number;
}

/**
 * Audio as objects of a bucket: `<prefix>/<session>/<sha256>`. A name is written once, by a condition
 * that the server keeps. Nothing is locked: who sets a file aside and who stores it again each write
 * first and look then, so that at least one of them sees the other.
 */
export class S3Blobs implements AudioStore {
  readonly names: AudioStore["names"];
  readonly marks: NamedObjects;
  readonly ledger: NamedObjects;
  readonly logPaceMs = LOG_PACE_MS;
  readonly #bucket: S3Bucket;
  readonly #logs: ObjectLogs;
  readonly #folders: ReceivingFolders;
  readonly #copies: LocalCopies;
  readonly #turns = new FairTurns(TURNS);
  readonly #pageSize: number | undefined;

  private constructor(bucket: S3Bucket, { folder, pageSize }: S3BlobsOptions) {
    this.#bucket = bucket;
    this.#pageSize = pageSize;
    this.#logs = new ObjectLogs(bucket, pageSize);
    this.#folders = new ReceivingFolders(folder);
    this.#copies = new LocalCopies({ folder: this.temporaryFolder });
    this.names = { address: bucket.address, kind: "bucket", setting: "AUDIO_STORE" };
    this.marks = new NamedObjects(bucket, "");
    this.ledger = new NamedObjects(bucket, "erasures/");
  }

  /** Asks the server nothing yet. */
  static async open(options: S3BlobsOptions): Promise<S3Blobs> {
    return new S3Blobs(await S3Bucket.load(options), options);
  }

  get queues(): readonly QueueFigures[] {
    return this.#turns.queues;
  }

  get temporaryFolder(): string {
    return this.#folders.temporaryFolder;
  }

  get uploadsFolder(): string {
    return this.#folders.uploadsFolder;
  }

  async start(): Promise<void> {
    await this.#folders.start();
    await this.#bucket.check().catch((error: unknown) => {
      throw unusable(this.names.address, s3ReasonOf(error), error);
    });
    await this.#bucket.learnVersioning().catch((error: unknown) => {
      const reason = `It cannot be told whether the bucket keeps versions, of which those of erased audio would stay (s3:GetBucketVersioning): ${s3FaultText(error)}`;
      throw unusable(this.names.address, reason, error);
    });
    const key = `${TRIES}${newId()}`;
    const tries: boolean[] = [];
    try {
      for (let n = 0; n < 2; n += 1) {
        tries.push(await this.#bucket.put(key, Buffer.from(`${n}`), { once: true }));
      }
      await this.#bucket.remove(key);
    } catch (error) {
      throw unusable(this.names.address, `It cannot be written: ${s3FaultText(error)}`, error);
    }
    if (tries[0] && !tries[1]) return;
    const reason =
      "The server ignores If-None-Match: audio could be written over. Use one that keeps conditional writes.";
    throw unusable(this.names.address, reason);
  }

  async stop(): Promise<void> {
    await this.#copies.stop();
    this.#bucket.close();
  }

  async probe(): Promise<DiskState> {
    const state: DiskState = {};
    const room = await this.#folders.room();
    if (room !== undefined) state.room = room;
    const key = `${TRIES}${newId()}`;
    try {
      await this.#bucket.put(key, Buffer.alloc(16), { once: true });
      await this.#bucket.remove(key);
    } catch (error) {
      state.fault = s3FaultText(error);
    }
    return state;
  }

  assertThere(): Promise<void> {
    return this.#bucket.assertThere();
  }

  async put(sessionId: string, sha256: string, temporaryPath: string): Promise<void> {
    await this.#store(sessionId, sha256, { path: temporaryPath });
    await rm(temporaryPath, { force: true });
  }

  putBytes(sessionId: string, sha256: string, bytes: Uint8Array): Promise<void> {
    return this.#store(sessionId, sha256, bytes);
  }

  async read(sessionId: string, sha256: string): Promise<Buffer> {
    return this.#found(this.#bucket.read(keyOf(sessionId, sha256)));
  }

  async digest(sessionId: string, sha256: string): Promise<HashedFile> {
    const hash = createHash("sha256");
    let bytes = 0;
    for await (const part of this.#bucket.stream(keyOf(sessionId, sha256))) {
      hash.update(part);
      bytes += part.byteLength;
    }
    return { sha256: hash.digest("hex"), bytes };
  }

  async lend(
    sessionId: string,
    sha256: string,
    digests: readonly string[] | undefined,
  ): Promise<LentFile> {
    const key = keyOf(sessionId, sha256);
    try {
      return await this.#copies.lend(key, digests, () => this.#bucket.stream(key));
    } catch (error) {
      if (!isAppError(error, "not_found")) throw error;
      await this.assertThere();
      return { path: join(this.temporaryFolder, `${newId()}.absent`), release: () => {} };
    }
  }

  async has(sessionId: string, sha256: string): Promise<boolean> {
    if ((await this.#bucket.head(keyOf(sessionId, sha256))) !== undefined) return true;
    await this.assertThere();
    return false;
  }

  async remove(sessionId: string, sha256: string): Promise<void> {
    const key = keyOf(sessionId, sha256);
    await this.#bucket.remove(key);
    await this.#copies.drop(key);
  }

  async replace(sessionId: string, sha256: string, bytes: Uint8Array): Promise<void> {
    const key = keyOf(sessionId, sha256);
    await this.#turns.run(sessionId, async () => {
      const found = await this.#bucket.head(key);
      const ifMatch = found?.etag;
      if (ifMatch === undefined || !(await this.#bucket.put(key, bytes, { ifMatch }))) {
        throw new AppError("not_found", "The audio of this chunk is not in the store.");
      }
    });
    await this.#copies.drop(key);
  }

  async restore(sessionId: string, sha256: string, content: UploadContent): Promise<void> {
    const key = keyOf(sessionId, sha256);
    const whole = content.kind === "memory" ? content.data : { path: content.path };
    await this.#turns.run(sessionId, () => this.#bucket.put(key, whole, {}));
    await this.#copies.drop(key);
  }

  async delete(sessionId: string): Promise<number> {
    const session = folderOf(sessionId);
    const uploads = await this.#folders.removeUploads(sessionId);
    const stored = await this.#bucket.removeAll(session);
    const aside = await this.#bucket.removeAll(`${ASIDE}${session}`);
    await this.#copies.drop(session);
    return uploads + stored + aside;
  }

  sessions(): AsyncIterable<readonly string[]> {
    return this.#ids("");
  }

  sessionsAside(): AsyncIterable<readonly string[]> {
    return this.#ids(ASIDE);
  }

  async files(sessionId: string): Promise<StoredFile[]> {
    return (await this.#listed(sessionId)).map(({ sha256, bytes }) => ({ sha256, bytes }));
  }

  async olderThan(sessionId: string, instant: number): Promise<string[]> {
    const found = await this.#listed(sessionId);
    return found.flatMap(({ sha256, at }) => (at < instant ? [sha256] : []));
  }

  async #listed(sessionId: string): Promise<(StoredFile & { at: number })[]> {
    const begin = folderOf(sessionId);
    const found: (StoredFile & { at: number })[] = [];
    for await (const page of this.#bucket.list(begin, this.#pageSize)) {
      for (const { key, bytes, at } of page) {
        const sha256 = key.slice(begin.length);
        if (SHA256.test(sha256)) found.push({ sha256, bytes, at });
      }
    }
    return found;
  }

  async setAside(sessionId: string, sha256: string, before: number, now: number): Promise<boolean> {
    const key = keyOf(sessionId, sha256);
    const found = await this.#bucket.head(key);
    if (found === undefined || found.at >= before) return false;
    const aside = asideKeyOf(sessionId, { sha256, since: Math.floor(now) });
    const begun = performance.now();
    await this.#bucket.copy(key, aside);
    // Whoever stores it again makes it young first and looks for the copy then.
    const still = await this.#bucket.head(key);
    const isLate = performance.now() - begun > REMOVAL_MS / 2;
    if (still !== undefined && (still.at >= before || still.etag !== found.etag || isLate)) {
      await this.#bucket.remove(aside);
      return false;
    }
    await this.#bucket.remove(key);
    await this.#copies.drop(key);
    return true;
  }

  async filesAside(sessionId: string): Promise<AsideFile[]> {
    const begin = `${ASIDE}${folderOf(sessionId)}`;
    const files: AsideFile[] = [];
    for await (const page of this.#bucket.list(begin, this.#pageSize)) {
      for (const { key } of page) {
        const [, sha256, since] = ASIDE_NAME.exec(key.slice(begin.length)) ?? [];
        if (sha256 !== undefined) files.push({ sha256, since: Number(since) });
      }
    }
    return files;
  }

  async putBack(sessionId: string, file: AsideFile): Promise<void> {
    const [key, aside] = [keyOf(sessionId, file.sha256), asideKeyOf(sessionId, file)];
    if ((await this.#bucket.head(key)) === undefined) await this.#bucket.copy(aside, key);
    await this.#bucket.remove(aside);
  }

  removeAside(sessionId: string, file: AsideFile): Promise<void> {
    return this.#bucket.remove(asideKeyOf(sessionId, file));
  }

  appendLog(sessionId: string, log: string, at: number, bytes: Uint8Array): Promise<void> {
    return this.#logs.append(folderOf(sessionId), log, at, bytes);
  }

  async readLog(sessionId: string, log: string): Promise<Buffer> {
    return this.#found(this.#logs.read(folderOf(sessionId), log));
  }

  removeLog(sessionId: string, log: string): Promise<void> {
    return this.#logs.remove(folderOf(sessionId), log);
  }

  logs(sessionId: string): Promise<StoredLog[]> {
    return this.#logs.list(folderOf(sessionId));
  }

  /** Checks the ids before anything is asked. */
  async #store(sessionId: string, sha256: string, content: ObjectContent): Promise<void> {
    const key = keyOf(sessionId, sha256);
    await this.#turns.run(sessionId, async () => {
      for (let attempt = 1; ; attempt += 1) {
        if (await this.#bucket.put(key, content, { once: true })) return;
        if (await this.#isYoungAgain(sessionId, sha256)) return;
        if (attempt >= ATTEMPTS) throw unsettled();
      }
    });
  }

  /**
   * Makes a file young that is there already; false when it has gone meanwhile. Throws `unavailable`
   * while somebody may be about to set it aside.
   */
  async #isYoungAgain(sessionId: string, sha256: string): Promise<boolean> {
    const key = keyOf(sessionId, sha256);
    let now: number;
    try {
      now = await this.#bucket.copy(key, key);
    } catch (error) {
      if (!isAppError(error, "not_found")) throw error;
      return false;
    }
    for await (const page of this.#bucket.list(`${ASIDE}${key}.`, this.#pageSize)) {
      if (page.some(({ at }) => at > now - DOUBT_MS)) throw unsettled();
    }
    return true;
  }

  async #found<T>(work: Promise<T>): Promise<T> {
    try {
      return await work;
    } catch (error) {
      if (isAppError(error, "not_found")) await this.assertThere();
      throw error;
    }
  }

  async *#ids(begin: string): AsyncGenerator<readonly string[]> {
    for await (const names of this.#bucket.folders(begin, this.#pageSize)) {
      const ids = names.filter(isId);
      if (ids.length > 0) yield ids;
    }
  }
}

function folderOf(sessionId: string): string {
  if (!isId(sessionId)) throw new AppError("bad_request", "Not a session id.");
  return `${sessionId}/`;
}

function keyOf(sessionId: string, sha256: string): string {
  if (!SHA256.test(sha256)) throw new AppError("bad_request", "Not a SHA-256 in hex.");
  return `${folderOf(sessionId)}${sha256}`;
}

function asideKeyOf(sessionId: string, { sha256, since }: AsideFile): string {
  return `${ASIDE}${keyOf(sessionId, sha256)}.${since}`;
}

function unsettled(): AppError {
  const message = "The same audio is being tidied away just now. Please try again.";
  return new AppError("unavailable", message, { retryAfter: DOUBT_MS / 1_000 });
}

function unusable(address: string, reason: string, cause?: unknown): AppError {
  return new AppError("unavailable", `AUDIO_STORE ${address} cannot be used. ${reason}`, { cause });
}
