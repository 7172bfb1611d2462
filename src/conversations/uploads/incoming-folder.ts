import { link, mkdir, open, readdir, rename, rm, rmdir, stat, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { Clock } from "../../base/clock.ts";
import { errnoOf, systemFault } from "../../base/errors.ts";
import { newId } from "../../base/ids.ts";
import type { Log } from "../../base/log.ts";
import { WorkList } from "../../base/work/work-list.ts";
import type { UploadContent } from "../../rest/route.ts";
import type { ExpiredUpload, UploadStore } from "./store.ts";

const PAGE = 100;

interface ExpiryOptions {
  uploads: UploadStore;
  folder: IncomingFolder;
  clock: Clock;
  log: Log;
}

/** Removes files whose time is over, and what is known of finished ones. */
export function expiredUploads({ uploads, folder, clock, log }: ExpiryOptions) {
  return new WorkList<ExpiredUpload>({
    page: PAGE,
    read: (limit, except) => uploads.expired(limit, except),
    keyOf: ({ id }) => id,
    async work(upload) {
      await folder.remove(upload);
      await uploads.remove(upload.id);
    },
    ...{ clock, log, trouble: "an expired upload could not be removed yet", field: "upload_id" },
  });
}

/** Files whose last byte came longer ago belong to no upload any more, milliseconds. */
const LEFT_OVER_MS = 48 * 3_600_000;

/** Names a file: its session and its upload. */
interface FileName {
  sessionId: string;
  id: string;
}

/**
 * The files of uploads that are not stored yet: `<folder>/<session>/<upload>`. What the disk or the
 * system refuses rejects with `unavailable` or `storage_full`.
 */
export class IncomingFolder {
  readonly #folder: string;
  readonly #temporaryFolder: string;

  /** @param temporaryFolder on the same file system */
  constructor(folder: string, temporaryFolder: string) {
    this.#folder = folder;
    this.#temporaryFolder = temporaryFolder;
  }

  pathOf({ sessionId, id }: FileName): string {
    return join(this.#folder, sessionId, id);
  }

  /** Makes the file durably: empty, or from a content whose file is moved there. */
  async create(name: FileName, content?: UploadContent): Promise<void> {
    const path = this.pathOf(name);
    await onDisk(async () => {
      await mkdir(dirname(path), { recursive: true, mode: 0o700 });
      if (content?.kind === "file") await rename(content.path, path);
      else await writeFile(path, content?.data ?? "", { mode: 0o600 });
      for (const each of [path, dirname(path), this.#folder]) await sync(each);
    });
  }

  /** Another name of the file, which whoever stores it may move or remove; undefined when it is gone. */
  async lend(name: FileName): Promise<string | undefined> {
    const path = join(this.#temporaryFolder, `${newId()}.upload`);
    return onDisk(async () => {
      try {
        await link(this.pathOf(name), path);
        return path;
      } catch (error) {
        if (errnoOf(error) === "ENOENT") return undefined;
        throw error;
      }
    });
  }

  /** Removes a name that `lend` gave, if it is there still. */
  async removeLent(path: string): Promise<void> {
    await rm(path, { force: true });
  }

  /** Removes the file, if it is there. */
  async remove(name: FileName): Promise<void> {
    const path = this.pathOf(name);
    await onDisk(() => rm(path, { force: true }));
    // Others of the session may be there still.
    await rmdir(dirname(path)).catch(() => {});
  }

  /** Removes files that nothing was written to for two days. Returns how many. */
  async sweep(now: number): Promise<number> {
    let removed = 0;
    for (const sessionId of await namesIn(this.#folder)) {
      for (const id of await namesIn(join(this.#folder, sessionId))) {
        const found = await stat(this.pathOf({ sessionId, id })).catch(() => undefined);
        if (found === undefined || now - found.mtimeMs < LEFT_OVER_MS) continue;
        await this.remove({ sessionId, id });
        removed += 1;
      }
    }
    return removed;
  }
}

async function onDisk<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw systemFault(error, true) ?? error;
  }
}

async function sync(path: string): Promise<void> {
  const file = await open(path, "r");
  await file.sync().finally(() => file.close());
}

async function namesIn(folder: string): Promise<string[]> {
  return readdir(folder).catch((error: unknown) => {
    if (errnoOf(error) === "ENOENT" || errnoOf(error) === "ENOTDIR") return [];
    throw error;
  });
}
