import { addAbortSignal, type Readable } from "node:stream";
import type { CopyObjectCommandOutput, S3Client } from "@aws-sdk/client-s3";
import { AppError } from "../../../base/errors.ts";
import { systemRuntime } from "../../../base/runtime.ts";
import { asAppError, isConflict, isMissing, isRefusedByCondition, s3FaultOf } from "./s3-faults.ts";
import { type ObjectContent, type Sdk, type WriteCondition, writeObject } from "./s3-writes.ts";

/** Where the audio is, and how it is written. */
export interface S3Settings {
  bucket: string;
  /** Empty, or with a slash at its end. */
  prefix: string;
  /** Of a server that is not Amazon's. */
  endpoint: string | undefined;
  /** By the SDK's chain when absent. */
  region: string | undefined;
  /** The bucket is in the path of the address, not in its host. */
  pathStyle: boolean;
  /** With which the server encrypts; by the bucket's own setting when absent. */
  encryption: "AES256" | "aws:kms" | undefined;
  /** With `aws:kms`: the id of the key. */
  kmsKey: string | undefined;
  /** By the SDK's chain when absent. */
  credentials?: { accessKeyId: string; secretAccessKey: string };
  /** From a request to the beginning of its answer, milliseconds; 10 s by default. */
  answerMs?: number;
}

interface ListedObject {
  key: string;
  bytes: number;
  /** Unix milliseconds, by the server's clock. */
  at: number;
}

interface ObjectFacts {
  etag: string;
  bytes: number;
  /** Unix milliseconds, by the server's clock. */
  at: number;
}

const CONNECT_MS = 3_000;
const ANSWER_MS = 10_000;
/** One request with its repetitions, or the transfer of one object. */
const LONGEST_MS = 30_000;
const ATTEMPTS = 3;
const CONFLICT_WAIT_MS = 100;
const SOCKETS = 64;
const PAGE = 1_000;
/** What servers answer to requests that they do not have. */
const UNKNOWN_THERE: ReadonlySet<number> = new Set([400, 404, 405, 501]);

/**
 * Objects of one bucket below a prefix. Every request has a bounded time and a bounded number of
 * repetitions; what fails rejects with `not_found`, `storage_full` or `unavailable`.
 */
export class S3Bucket {
  readonly address: string;
  readonly #sdk: Sdk;
  readonly #client: S3Client;
  readonly #settings: S3Settings;
  /** Older versions of an object stay unless they are removed by their own ids. */
  #keepsVersions = false;

  private constructor(sdk: Sdk, client: S3Client, settings: S3Settings) {
    this.address = `s3://${settings.bucket}/${settings.prefix}`.replace(/\/$/, "");
    this.#sdk = sdk;
    this.#client = client;
    this.#settings = settings;
  }

  /** Loads the SDK, which only processes with such a store need. Asks the server nothing. */
  static async load(settings: S3Settings): Promise<S3Bucket> {
    const sdk = await import("@aws-sdk/client-s3");
    const { endpoint, region, pathStyle, credentials, answerMs = ANSWER_MS } = settings;
    const client = new sdk.S3Client({
      ...(endpoint !== undefined && { endpoint }),
      ...((region ?? endpoint) !== undefined && { region: region ?? "us-east-1" }),
      ...(credentials !== undefined && { credentials }),
      forcePathStyle: pathStyle,
      maxAttempts: ATTEMPTS,
      // We send and compare SHA-256 ourselves.
      requestChecksumCalculation: "WHEN_REQUIRED",
      responseChecksumValidation: "WHEN_REQUIRED",
      requestHandler: {
        connectionTimeout: CONNECT_MS,
        requestTimeout: answerMs,
        throwOnRequestTimeout: true,
        httpAgent: { maxSockets: SOCKETS },
        httpsAgent: { maxSockets: SOCKETS },
      },
    });
    return new S3Bucket(sdk, client, settings);
  }

  close(): void {
    this.#client.destroy();
  }

  /** Rejects with the SDK's own error. */
  async check(): Promise<void> {
    await this.#client.send(new this.#sdk.HeadBucketCommand(this.#at), limited());
  }

  /**
   * Finds out whether older versions of what is erased would stay. A server that knows no versions
   * keeps none; rejects with the SDK's own error when that cannot be told.
   */
  async learnVersioning(): Promise<void> {
    const answer = await this.#client
      .send(new this.#sdk.GetBucketVersioningCommand(this.#at), limited())
      .catch((error: unknown) => {
        if (UNKNOWN_THERE.has(s3FaultOf(error).status ?? 0)) return undefined;
        throw error;
      });
    // "Suspended": versions from before are there still.
    this.#keepsVersions = answer?.Status !== undefined;
  }

  /** Rejects with `unavailable` when the bucket is not there. */
  async assertThere(): Promise<void> {
    await this.#client
      .send(new this.#sdk.HeadBucketCommand(this.#at), limited())
      .catch((error: unknown) => {
        const fault = asAppError(isMissing(error) ? new Error("There is no such bucket.") : error);
        throw fault;
      });
  }

  /**
   * Durable on return; false when the condition does not hold. A request that is repeated because its
   * answer was lost may find its own object, which is false, too.
   */
  async put(key: string, content: ObjectContent, condition: WriteCondition): Promise<boolean> {
    const target = { ...this.#object(key), ...this.#encrypted };
    const writer = { sdk: this.#sdk, client: this.#client, limited };
    try {
      await repeatedOnConflict(() => writeObject(writer, target, content, condition));
      if (this.#keepsVersions && !("once" in condition)) await this.#removeOlder(key);
      return true;
    } catch (error) {
      if (isRefusedByCondition(error)) return false;
      throw asAppError(error);
    }
  }

  /**
   * The bytes of an object from `from` on, in parts as they come. A connection that breaks is taken up
   * again where it was, a few times, of the same version.
   */
  async *stream(key: string, from = 0): AsyncGenerator<Uint8Array> {
    let at = from;
    let version: string | undefined;
    for (let attempt = 1; ; attempt += 1) {
      try {
        const range = at === 0 ? {} : { Range: `bytes=${at}-` };
        const same = version === undefined ? {} : { IfMatch: version };
        const command = new this.#sdk.GetObjectCommand({ ...this.#object(key), ...range, ...same });
        const { Body, ETag } = await this.#client.send(command, limited());
        version = ETag;
        const body = addAbortSignal(AbortSignal.timeout(LONGEST_MS), Body as Readable);
        for await (const part of body) {
          at += (part as Uint8Array).byteLength;
          yield part as Uint8Array;
        }
        return;
      } catch (error) {
        const isBehindEnd = (error as Error).name === "InvalidRange";
        if (isBehindEnd) return;
        if (attempt >= ATTEMPTS || isMissing(error) || at === from) throw asAppError(error);
      }
    }
  }

  async read(key: string): Promise<Buffer> {
    const parts: Uint8Array[] = [];
    for await (const part of this.stream(key)) parts.push(part);
    return Buffer.concat(parts);
  }

  /** Undefined when there is none. */
  async head(key: string): Promise<ObjectFacts | undefined> {
    try {
      const command = new this.#sdk.HeadObjectCommand(this.#object(key));
      const {
        ETag = "",
        LastModified,
        ContentLength = 0,
      } = await this.#client.send(command, limited());
      return { etag: ETag, bytes: ContentLength, at: LastModified?.getTime() ?? 0 };
    } catch (error) {
      if (isMissing(error)) return undefined;
      throw asAppError(error);
    }
  }

  /** Copies within the bucket, also onto itself, which makes it young. Returns when, by the server's clock. */
  async copy(from: string, to: string): Promise<number> {
    const { bucket, prefix } = this.#settings;
    const command = new this.#sdk.CopyObjectCommand({
      ...this.#object(to),
      ...this.#encrypted,
      CopySource: encodeURI(`${bucket}/${prefix}${from}`),
      MetadataDirective: "REPLACE",
    });
    const answer: CopyObjectCommandOutput = await this.#client
      .send(command, limited())
      .catch((error: unknown) => {
        throw asAppError(error);
      });
    if (this.#keepsVersions) await this.#removeOlder(to);
    return answer.CopyObjectResult?.LastModified?.getTime() ?? 0;
  }

  /** Objects whose keys begin so, page by page, in the order of their keys. */
  async *list(begin: string, pageSize = PAGE): AsyncGenerator<ListedObject[]> {
    for await (const { Contents = [] } of this.#pages({ begin, pageSize })) {
      yield Contents.map(({ Key = "", Size = 0, LastModified }) => ({
        key: this.#short(Key),
        bytes: Size,
        at: LastModified?.getTime() ?? 0,
      }));
    }
  }

  /** What stands between `begin` and the next slash of the keys below it, page by page. */
  async *folders(begin: string, pageSize = PAGE): AsyncGenerator<string[]> {
    for await (const { CommonPrefixes = [] } of this.#pages({ begin, pageSize, isFlat: true })) {
      yield CommonPrefixes.map(({ Prefix = "" }) => this.#short(Prefix).slice(begin.length, -1));
    }
  }

  async *#pages(wanted: { begin: string; pageSize: number; isFlat?: true }) {
    let cursor: string | undefined;
    do {
      const command = new this.#sdk.ListObjectsV2Command({
        ...this.#at,
        Prefix: `${this.#settings.prefix}${wanted.begin}`,
        MaxKeys: wanted.pageSize,
        ...(wanted.isFlat && { Delimiter: "/" }),
        ...(cursor !== undefined && { ContinuationToken: cursor }),
      });
      const page = await this.#client.send(command, limited()).catch((error: unknown) => {
        throw asAppError(error);
      });
      yield page;
      cursor = page.IsTruncated ? page.NextContinuationToken : undefined;
    } while (cursor !== undefined);
  }

  async remove(key: string): Promise<void> {
    if (this.#keepsVersions) {
      await this.#removeVersions(key, () => true);
      return;
    }
    const command = new this.#sdk.DeleteObjectCommand(this.#object(key));
    await this.#client.send(command, limited()).catch((error: unknown) => {
      throw asAppError(error);
    });
  }

  /** Removes every object whose key begins so, with its older versions; returns how many objects there were. */
  async removeAll(begin: string): Promise<number> {
    let removed = 0;
    if (!this.#keepsVersions) {
      for await (const page of this.list(begin)) {
        await this.#removeKeys(page.map(({ key }) => ({ Key: `${this.#settings.prefix}${key}` })));
        removed += page.length;
      }
      return removed;
    }
    for await (const { current, keys } of this.#versions(begin)) {
      await this.#removeKeys(keys);
      removed += current;
    }
    return removed;
  }

  #removeOlder(key: string): Promise<void> {
    return this.#removeVersions(key, ({ isLatest }) => !isLatest);
  }

  async #removeVersions(key: string, isWanted: (each: { isLatest: boolean }) => boolean) {
    for await (const { keys } of this.#versions(key)) {
      const ours = keys.filter(({ Key }) => this.#short(Key) === key);
      await this.#removeKeys(ours.filter(isWanted));
    }
  }

  async *#versions(begin: string) {
    let after = {};
    for (;;) {
      const Prefix = `${this.#settings.prefix}${begin}`;
      const command = new this.#sdk.ListObjectVersionsCommand({ ...this.#at, Prefix, ...after });
      const page = await this.#client.send(command, limited()).catch((error: unknown) => {
        throw asAppError(error);
      });
      const { Versions = [], DeleteMarkers = [] } = page;
      const keys = [...Versions, ...DeleteMarkers].map(({ Key = "", VersionId, IsLatest }) => ({
        ...{ Key, VersionId, isLatest: IsLatest === true },
      }));
      yield { current: Versions.filter(({ IsLatest }) => IsLatest).length, keys };
      if (!page.IsTruncated) return;
      after = { KeyMarker: page.NextKeyMarker, VersionIdMarker: page.NextVersionIdMarker };
    }
  }

  async #removeKeys(
    keys: readonly { Key: string; VersionId?: string | undefined }[],
  ): Promise<void> {
    if (keys.length === 0) return;
    const Objects = keys.map(({ Key, VersionId }) => ({ Key, ...(VersionId && { VersionId }) }));
    const command = new this.#sdk.DeleteObjectsCommand({
      ...this.#at,
      Delete: { Objects, Quiet: true },
    });
    const { Errors = [] } = await this.#client.send(command, limited()).catch((error: unknown) => {
      throw asAppError(error);
    });
    const [first] = Errors;
    if (first === undefined) return;
    const cause = new Error(`${Errors.length} of ${keys.length} not removed: ${first.Code}`);
    throw new AppError("unavailable", "Stored audio cannot be removed just now.", {
      cause,
      retryAfter: 10,
    });
  }

  get #at() {
    return { Bucket: this.#settings.bucket };
  }

  #object(key: string) {
    return { ...this.#at, Key: `${this.#settings.prefix}${key}` };
  }

  /** Without the prefix. */
  #short(key: string): string {
    return key.slice(this.#settings.prefix.length);
  }

  get #encrypted() {
    const { encryption, kmsKey } = this.#settings;
    if (encryption === undefined) return {};
    return {
      ServerSideEncryption: encryption,
      ...(kmsKey !== undefined && { SSEKMSKeyId: kmsKey }),
    };
  }
}

/** The longest time of a request with its repetitions. */
function limited(): { abortSignal: AbortSignal } {
  return { abortSignal: AbortSignal.timeout(LONGEST_MS) };
}

async function repeatedOnConflict(write: () => Promise<void>): Promise<void> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await write();
    } catch (error) {
      if (!isConflict(error) || attempt >= ATTEMPTS) throw error;
      await systemRuntime.delay(CONFLICT_WAIT_MS * attempt);
    }
  }
}
