import type { QueueOwner } from "../../../base/queue-metrics.ts";
import type { UploadContent } from "../../../rest/route.ts";
import type { DiskState } from "../durable-files/audio-watch.ts";
import type { HashedFile } from "../integrity/sha256.ts";

/**
 * Port: logs of audio that is being streamed, below the session that they belong to. A log has one
 * writer; its name is an id. Rejects with `unavailable`, or `storage_full` when there is no room.
 */
export interface FragmentLogStore {
  /** Least time between two entries of a log, milliseconds: how often it pays to write. */
  readonly logPaceMs: number;
  /**
   * Writes bytes into a log; durable on return. One begins with `at` 0, and each further entry stands
   * behind the one before. Throws `not_found` when the log is gone.
   */
  appendLog(sessionId: string, log: string, at: number, bytes: Uint8Array): Promise<void>;
  /** All entries, one behind the other. Throws `not_found`. */
  readLog(sessionId: string, log: string): Promise<Buffer>;
  /** Repeatable. */
  removeLog(sessionId: string, log: string): Promise<void>;
  /** All logs of a session, with when each was written last, Unix milliseconds. */
  logs(sessionId: string): Promise<StoredLog[]>;
}

/** A log below its session. */
export interface StoredLog {
  readonly log: string;
  readonly at: number;
}

/** Port: audio by session and the SHA-256 (hex) of what was sent. */
export interface BlobStore {
  /**
   * Takes over the temporary file; on return its bytes and its name survive a power failure.
   * Storing the same bytes twice is allowed. Throws `storage_full`, `unavailable` and `timeout` while
   * the disk cannot take it.
   */
  put(sessionId: string, sha256: string, temporaryPath: string): Promise<unknown>;
  /** Like `put`, for a few bytes in memory. */
  putBytes(sessionId: string, sha256: string, bytes: Uint8Array): Promise<void>;
  /** Reads a file. Throws `not_found` when there is no such audio. */
  read(sessionId: string, sha256: string): Promise<Buffer>;
  /** Removes all audio of a session; repeatable. */
  delete(sessionId: string): Promise<unknown>;
}

/** A file that no chunk names. */
export interface AsideFile {
  readonly sha256: string;
  /** Since when it is aside, Unix milliseconds. */
  readonly since: number;
}

/** A file below its session. */
export interface StoredFile {
  readonly sha256: string;
  readonly bytes: number;
}

/** A stored file on a disk of this machine. */
export interface LentFile {
  /** Of no file where there is no such audio. */
  readonly path: string;
  /** To be called once, when it is not read any more. */
  release(): void;
}

/** Small texts beside the audio, each written once and never changed. */
export interface NamedTexts {
  /** Where they are, for people. */
  readonly address: string;
  start(): Promise<void>;
  /** Their names, in no order; those of other kinds as well. Throws `unavailable`. */
  list(): Promise<string[]>;
  /** Asks for the one text: lists of network file systems may be some seconds old. */
  has(name: string): Promise<boolean>;
  /** Undefined when there is none; "too long" beyond `most` bytes. */
  read(name: string, most: number): Promise<string | undefined>;
  /**
   * Durable and whole on return; false, and nothing is changed, when there is another one of this
   * name. Throws `unavailable` and `storage_full`.
   */
  writeOnce(name: string, text: string): Promise<boolean>;
  /** Repeatable. Throws `unavailable`. */
  remove(name: string): Promise<void>;
  /** A command by which an operator writes it by hand. */
  commandToWrite(name: string, text: string): string;
}

/** How a store is called towards operators. */
interface StoreNames {
  /** A path, or `s3://bucket/prefix`. */
  readonly address: string;
  /** What all machines need to share. */
  readonly kind: "folder" | "bucket";
  /** The setting that names it. */
  readonly setting: string;
}

/**
 * Port: the audio of all sessions, and what lies beside it. A name is written once: what has it stays
 * until it is replaced or removed by that name. Whatever the store itself refuses rejects with
 * `unavailable`, or `storage_full` when it has no room; ids and hashes that are none with `bad_request`.
 */
export interface AudioStore extends BlobStore, FragmentLogStore, QueueOwner {
  readonly names: StoreNames;
  /** Tells stores apart: which database's audio it is. */
  readonly marks: NamedTexts;
  /** The ledger of erasures. */
  readonly ledger: NamedTexts;
  /** A folder of this machine for files that are being received; created by `start`. */
  readonly temporaryFolder: string;
  /** Whole files that are being received, on the file system of `temporaryFolder`. */
  readonly uploadsFolder: string;
  /** Throws `unavailable` with what to do when the store cannot be used. */
  start(): Promise<void>;
  /** Further writes are rejected. */
  stop(): Promise<void>;
  /** Tries whether a file can be written. Takes as long as the store does; never rejects. */
  probe(): Promise<DiskState>;
  /** Throws `unavailable` when the store itself is away, so that no file counts as gone. */
  assertThere(): Promise<void>;
  /**
   * SHA-256 and length of a stored file, read in small steps. Throws `not_found`, or the system's error
   * of this one file.
   */
  digest(sessionId: string, sha256: string): Promise<HashedFile>;
  /**
   * Lends a file to threads, which read by path.
   *
   * @param digests what the file may hold, SHA-256 in hex: an older copy of it is not lent
   */
  lend(
    sessionId: string,
    sha256: string,
    digests: readonly string[] | undefined,
  ): Promise<LentFile>;
  /** Whether there is such a file. */
  has(sessionId: string, sha256: string): Promise<boolean>;
  /** Removes one file, which is kept elsewhere from now on; repeatable. */
  remove(sessionId: string, sha256: string): Promise<void>;
  /** Replaces an existing file atomically and durably; rejects when it is gone. */
  replace(sessionId: string, sha256: string, bytes: Uint8Array): Promise<void>;
  /** Puts a file in the place of whatever has its name, atomically and durably. */
  restore(sessionId: string, sha256: string, content: UploadContent): Promise<void>;
  /** Removes all audio of a session, also what is aside or still comes; returns the number of files. */
  delete(sessionId: string): Promise<number>;
  /** Ids of all sessions with audio, ascending, page by page, whether or not there is such a session. */
  sessions(): AsyncIterable<readonly string[]>;
  /** All files of a session but those that are aside. */
  files(sessionId: string): Promise<StoredFile[]>;
  /** Hashes of a session's files that were stored, or stored again, before `instant` (Unix milliseconds). */
  olderThan(sessionId: string, instant: number): Promise<string[]>;
  /**
   * Sets a file aside if it is still older than `before` (Unix milliseconds); false when it is
   * younger or gone. An upload that stores it again meanwhile loses nothing. `now` is noted as the time
   * since when it is aside.
   */
  setAside(sessionId: string, sha256: string, before: number, now: number): Promise<boolean>;
  /** Ids of sessions of which something is set aside, ascending, page by page. */
  sessionsAside(): AsyncIterable<readonly string[]>;
  filesAside(sessionId: string): Promise<AsideFile[]>;
  /** Back to its place, unless the file is there again. */
  putBack(sessionId: string, file: AsideFile): Promise<void>;
  removeAside(sessionId: string, file: AsideFile): Promise<void>;
}
