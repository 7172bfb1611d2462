import { AppError } from "../../../base/errors.ts";
import { isId } from "../../../base/ids.ts";
import type { StoredLog } from "./audio-store.ts";
import type { S3Bucket } from "./s3-bucket.ts";

/** Objects that are read at once. */
const AT_ONCE = 8;
const PART = /^([0-9a-f-]{36})\.log\/(\d{12})$/;

/** Logs in a bucket, in which nothing can grow: each entry is an object, named by where it begins. */
export class ObjectLogs {
  readonly #bucket: S3Bucket;
  readonly #pageSize: number | undefined;

  constructor(bucket: S3Bucket, pageSize: number | undefined) {
    this.#bucket = bucket;
    this.#pageSize = pageSize;
  }

  /** An entry is written once, so one that is there is its own, of a request that was repeated. */
  async append(session: string, log: string, at: number, bytes: Uint8Array): Promise<void> {
    const key = `${beginOf(session, log)}${String(at).padStart(12, "0")}`;
    await this.#bucket.put(key, bytes, { once: true });
  }

  async read(session: string, log: string): Promise<Buffer> {
    const keys: string[] = [];
    for await (const page of this.#bucket.list(beginOf(session, log), this.#pageSize)) {
      keys.push(...page.map(({ key }) => key));
    }
    if (keys.length === 0) throw new AppError("not_found", "There is no such log.");
    const entries: Buffer[] = [];
    for (let at = 0; at < keys.length; at += AT_ONCE) {
      const some = keys.slice(at, at + AT_ONCE);
      entries.push(...(await Promise.all(some.map((key) => this.#bucket.read(key)))));
    }
    return Buffer.concat(entries);
  }

  async remove(session: string, log: string): Promise<void> {
    await this.#bucket.removeAll(beginOf(session, log));
  }

  async list(session: string): Promise<StoredLog[]> {
    const found = new Map<string, number>();
    for await (const page of this.#bucket.list(session, this.#pageSize)) {
      for (const { key, at } of page) {
        const [, log] = PART.exec(key.slice(session.length)) ?? [];
        if (log !== undefined) found.set(log, Math.max(at, found.get(log) ?? 0));
      }
    }
    return [...found].map(([log, at]) => ({ log, at }));
  }
}

/** @param session with a slash at its end */
function beginOf(session: string, log: string): string {
  if (!isId(log)) throw new AppError("bad_request", "Not the id of a log.");
  return `${session}${log}.log/`;
}
