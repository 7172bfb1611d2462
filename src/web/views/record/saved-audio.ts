/** A recording of this browser that the service has not acknowledged to its end. */
export interface SavedRecording {
  readonly sessionId: string;
  /** Whose it is: nobody else sees or sends it. */
  readonly userId: string;
  readonly email: string;
  readonly workspaceId: string;
  readonly title: string;
  /** "" for what the workspace expects; recordings of before have none. */
  readonly language?: string;
  /** Samples a second, of one channel with 16 bits. */
  readonly sampleRate: number;
  /** Unix milliseconds. */
  readonly startedAt: number;
  /** When sound was last kept, Unix milliseconds. */
  readonly keptAt: number;
}

interface Part {
  readonly sessionId: string;
  /** Offset of its first byte in the recording's stream. */
  readonly offset: number;
  readonly bytes: Uint8Array;
}

/** What is left of a recording's sound. */
export interface UnsentAudio {
  /** Offset in the stream of the first byte. */
  readonly from: number;
  readonly bytes: Uint8Array;
}

const DATABASE = "voice-recordings";
const RECORDINGS = "recordings";
const PARTS = "pieces";
/** Longer than this nothing is kept, milliseconds. */
const LONGEST_MS = 7 * 24 * 3_600_000;

/**
 * Recordings and their sound in the browser's own database, from the microphone until the service has
 * stored them, so that a reload or a crash loses nothing. Each is of one account.
 */
export class SavedAudio {
  readonly #database: IDBDatabase;

  private constructor(database: IDBDatabase) {
    this.#database = database;
  }

  /** Undefined where the browser keeps nothing, as in some private windows. */
  static async open(): Promise<SavedAudio | undefined> {
    try {
      const opening = indexedDB.open(DATABASE, 1);
      opening.onupgradeneeded = () => {
        opening.result.createObjectStore(RECORDINGS, { keyPath: "sessionId" });
        opening.result.createObjectStore(PARTS, { keyPath: ["sessionId", "offset"] });
      };
      const kept = new SavedAudio(await answerOf(opening));
      await kept.#removeOld(Date.now());
      return kept;
    } catch {
      return undefined;
    }
  }

  async begin(recording: SavedRecording): Promise<void> {
    await this.#change((stores) => stores.recordings.put(recording));
  }

  /** All recordings that are not acknowledged, the newest first. */
  async list(): Promise<SavedRecording[]> {
    const { recordings } = this.#stores("readonly");
    const found = (await answerOf(recordings.getAll())) as SavedRecording[];
    return found.sort((one, other) => other.startedAt - one.startedAt);
  }

  /** Keeps sound that follows what is kept; `offset` is that of its first byte in the stream. */
  async append(sessionId: string, offset: number, bytes: Uint8Array): Promise<void> {
    await this.#change(({ recordings, parts }) => {
      parts.put({ sessionId, offset, bytes } satisfies Part);
      const reading = recordings.get(sessionId);
      reading.onsuccess = () => {
        const recording = reading.result as SavedRecording | undefined;
        if (recording !== undefined) recordings.put({ ...recording, keptAt: Date.now() });
      };
    });
  }

  /** Lets go of what lies wholly before this offset: it is stored. */
  async forget(sessionId: string, offset: number): Promise<void> {
    const { parts } = this.#stores("readonly");
    const keys = (await answerOf(parts.getAllKeys(rangeOf(sessionId)))) as [string, number][];
    const stored = keys.filter((_, n) => (keys[n + 1]?.[1] ?? Number.POSITIVE_INFINITY) <= offset);
    const last = stored.at(-1);
    if (last === undefined) return;
    await this.#change((stores) => stores.parts.delete(IDBKeyRange.bound([sessionId, 0], last)));
  }

  /** The sound of a recording that is not known to be stored: what is kept without a gap at its end. */
  async rest(sessionId: string): Promise<UnsentAudio> {
    const { parts } = this.#stores("readonly");
    const found = (await answerOf(parts.getAll(rangeOf(sessionId)))) as Part[];
    const first = found.findLastIndex(({ offset }, n) => offset !== endOf(found[n - 1]));
    const tail = found.slice(Math.max(0, first));
    const from = tail[0]?.offset ?? 0;
    const bytes = new Uint8Array((endOf(tail.at(-1)) ?? from) - from);
    for (const part of tail) bytes.set(part.bytes, part.offset - from);
    return { from, bytes };
  }

  /** Removes a recording with its sound: it is stored, or nobody wants it. */
  async remove(sessionId: string): Promise<void> {
    await this.#change(({ recordings, parts }) => {
      recordings.delete(sessionId);
      parts.delete(rangeOf(sessionId));
    });
  }

  async #removeOld(now: number): Promise<void> {
    for (const { sessionId, keptAt } of await this.list()) {
      if (keptAt < now - LONGEST_MS) await this.remove(sessionId);
    }
  }

  #stores(mode: IDBTransactionMode) {
    const transaction = this.#database.transaction([RECORDINGS, PARTS], mode);
    const [recordings, parts] = [
      transaction.objectStore(RECORDINGS),
      transaction.objectStore(PARTS),
    ];
    return { transaction, recordings, parts };
  }

  /** Resolves when the change is in the database; rejects when the browser has no room for it. */
  #change(work: (stores: { recordings: IDBObjectStore; parts: IDBObjectStore }) => void) {
    const { transaction, recordings, parts } = this.#stores("readwrite");
    return new Promise<void>((resolve, reject) => {
      transaction.oncomplete = () => resolve();
      transaction.onabort = () => reject(transaction.error ?? new Error("Nothing was kept."));
      work({ recordings, parts });
    });
  }
}

function endOf(part: Part | undefined): number | undefined {
  return part && part.offset + part.bytes.byteLength;
}

function rangeOf(sessionId: string): IDBKeyRange {
  return IDBKeyRange.bound([sessionId, 0], [sessionId, Number.POSITIVE_INFINITY]);
}

function answerOf<T>(request: IDBRequest<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  });
}
