import type { FileFacts } from "./file-facts.ts";
import { noteUploadsSaved } from "./upload-state.ts";

/** Where a file goes, and what is spoken in it. */
export interface Wanted {
  /** "" for the account's own workspace, until one was chosen. */
  readonly workspaceId: string;
  /** BCP 47 tag, or `auto`; "" for what the workspace expects. Uploads of before have none. */
  readonly language?: string;
}

/** What a browser keeps of an upload that is not done, to go on with after the page was loaded again. */
export interface SavedUpload extends FileFacts, Wanted {
  readonly id: string;
  /** Whose it is: nobody else who signs in here sees it or goes on with it. */
  readonly accountId: string;
  /** The media type that the browser gave, or "". */
  readonly type: string;
  /** Counts the sessions that were made for it: it begins anew where one has ended too soon. */
  readonly round: number;
  readonly sessionId?: string | undefined;
  /** Where the service takes its bytes. */
  readonly address?: string | undefined;
  /** Bytes that the service had when it last said so. */
  readonly sent: number;
  readonly isPaused: boolean;
  /** Unix milliseconds. */
  readonly begunAt: number;
}

const NAME = "voice-uploads";
const RECORDS = "uploads";
const FILES = "files";
/** A database of the browser that does not answer is done without. */
const LIMIT_MS = 10_000;
/** The service forgets an unfinished file a day after its last byte; nobody goes on after a week. */
const KEEP_MS = 7 * 86_400_000;
/** Larger files are not copied into the browser's database: they are chosen again. */
const MOST_FILE_BYTES = 256 * 1024 * 1024;

/**
 * Unfinished uploads in the browser's database, with the bytes of files that are small enough. Where
 * the browser has no database, or no room, nothing is kept: no method throws.
 */
export class SavedUploads {
  #opening: Promise<IDBDatabase> | undefined;

  /** False where it is not kept. */
  async put(upload: SavedUpload): Promise<boolean> {
    const isKept = await this.#change([RECORDS], (of) => of(RECORDS).put(upload));
    if (isKept) noteUploadsSaved(true);
    return isKept;
  }

  /** Keeps the bytes as well, where there is room for them. */
  async putFile(id: string, file: File): Promise<void> {
    if (file.size > MOST_FILE_BYTES) return;
    const { quota = 0, usage = 0 } = await room();
    if (file.size > (quota - usage) / 4) return;
    await this.#change([FILES], (of) => of(FILES).put(file, id));
  }

  async find(id: string): Promise<SavedUpload | undefined> {
    return this.#read<SavedUpload | undefined>(RECORDS, (store) => store.get(id));
  }

  async file(id: string): Promise<File | undefined> {
    return this.#read<File | undefined>(FILES, (store) => store.get(id));
  }

  /** Those of an account, oldest first. What nobody went on with for a week is forgotten. */
  async of(accountId: string): Promise<readonly SavedUpload[]> {
    const all = (await this.#read<SavedUpload[]>(RECORDS, (store) => store.getAll())) ?? [];
    const isOver = ({ begunAt }: SavedUpload) => Date.now() - begunAt > KEEP_MS;
    await Promise.all(all.filter(isOver).map(({ id }) => this.remove(id)));
    const kept = all.filter((each) => !isOver(each));
    if (kept.length === 0) noteUploadsSaved(false);
    return kept
      .filter((each) => each.accountId === accountId)
      .sort((one, other) => one.begunAt - other.begunAt);
  }

  async remove(id: string): Promise<void> {
    await this.#change([RECORDS, FILES], (of) => {
      of(RECORDS).delete(id);
      of(FILES).delete(id);
    });
  }

  /** Forgets the bytes of these: others may use this browser. */
  async removeFiles(ids: readonly string[]): Promise<void> {
    await this.#change([FILES], (of) => {
      for (const id of ids) of(FILES).delete(id);
    });
  }

  /** True once the change is durable. */
  async #change(
    stores: readonly string[],
    change: (of: (store: string) => IDBObjectStore) => unknown,
  ): Promise<boolean> {
    try {
      const transaction = (await this.#open()).transaction(stores, "readwrite");
      change((store) => transaction.objectStore(store));
      await within(
        new Promise<void>((resolve, reject) => {
          transaction.oncomplete = () => resolve();
          transaction.onabort = () => reject(transaction.error);
        }),
      );
      return true;
    } catch {
      return false;
    }
  }

  async #read<T>(
    store: string,
    ask: (store: IDBObjectStore) => IDBRequest<T>,
  ): Promise<T | undefined> {
    try {
      const transaction = (await this.#open()).transaction([store], "readonly");
      return await within(answerOf(ask(transaction.objectStore(store))));
    } catch {
      return undefined;
    }
  }

  #open(): Promise<IDBDatabase> {
    this.#opening ??= within(openDatabase()).catch((error: unknown) => {
      this.#opening = undefined;
      throw error;
    });
    return this.#opening;
  }
}

/** Pages without TLS are not told. */
async function room(): Promise<StorageEstimate> {
  try {
    return (await navigator.storage?.estimate()) ?? {};
  } catch {
    return {};
  }
}

function openDatabase(): Promise<IDBDatabase> {
  const opening = indexedDB.open(NAME, 1);
  opening.onupgradeneeded = () => {
    opening.result.createObjectStore(RECORDS, { keyPath: "id" });
    opening.result.createObjectStore(FILES);
  };
  return answerOf(opening);
}

function answerOf<T>(request: IDBRequest<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  });
}

async function within<T>(work: Promise<T>): Promise<T> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const limit = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error("The browser's database is silent.")), LIMIT_MS);
  });
  return Promise.race([work, limit]).finally(() => clearTimeout(timer));
}
