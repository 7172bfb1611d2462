import { createReadStream } from "node:fs";
import { join } from "node:path";
import { errorCode } from "../supervisor/error-code.ts";
import { diskFault } from "./faults.ts";
import type { Lack, SoundFacts } from "./manifest.ts";
import { type NamedSound, parseNamed } from "./named-sound.ts";
import { type ObjectFolder, type StoredObject, UnexpectedContent } from "./objects.ts";
import { assertThere, type CopiedLogs, RecordMovedOn } from "./open-logs.ts";
import { linesOf, storeStream } from "./streams.ts";

/** Files that are copied at a time. */
const AT_ONCE = 4;

interface SoundCopy {
  /** Lines of `NAMED_SOUND`. */
  readonly named: string;
  /** What was copied of streams before. */
  readonly logs: CopiedLogs;
  /** The audio folder. */
  readonly folder: string;
  readonly objects: ObjectFolder;
  /** The same file by the record as it is now; undefined when that does not name it any more. */
  readonly lookUp: (file: NamedSound) => Promise<NamedSound | undefined>;
  readonly signal: AbortSignal;
  readonly note: (done: { files: number; bytes: number }) => void;
}

interface Copied {
  readonly file: NamedSound;
  readonly object?: StoredObject;
  readonly lack?: Lack;
}

/** Copies the files that the record's snapshot names, but for those that are in the backup already. */
export class SoundCopier {
  readonly #copy: SoundCopy;
  readonly #lacking: Lack[] = [];
  readonly #done: { files: number; bytes: number };
  #erased = 0;

  constructor(copy: SoundCopy) {
    this.#copy = copy;
    this.#done = { files: copy.logs.files, bytes: copy.logs.bytes };
  }

  /** Throws a StepError, and `RecordMovedOn`. */
  async run(): Promise<SoundFacts> {
    const list = await storeStream(this.#copy.objects, this.#lines());
    return { ...this.#done, list, lacking: this.#lacking, erased: this.#erased };
  }

  async *#lines(): AsyncGenerator<Buffer> {
    yield Buffer.from(this.#copy.logs.lines.join(""));
    let batch: NamedSound[] = [];
    for await (const line of linesOf(createReadStream(this.#copy.named))) {
      batch.push(parseNamed(line));
      if (batch.length < AT_ONCE) continue;
      yield await this.#copyAll(batch);
      batch = [];
    }
    if (batch.length > 0) yield await this.#copyAll(batch);
  }

  async #copyAll(batch: readonly NamedSound[]): Promise<Buffer> {
    const { signal, note } = this.#copy;
    signal.throwIfAborted();
    const copied = await Promise.all(batch.map((file) => this.#copyOne(file)));
    const lines = copied.flatMap(({ file, object, lack }) => {
      if (lack !== undefined) this.#lacking.push(lack);
      if (object === undefined) return [];
      this.#done.files += 1;
      this.#done.bytes += object.bytes;
      return [`${file.session} ${file.name} ${object.sha256} ${object.bytes}\n`];
    });
    note(this.#done);
    return Buffer.from(lines.join(""));
  }

  async #copyOne(file: NamedSound): Promise<Copied> {
    const { folder, objects } = this.#copy;
    const path = join(folder, file.session, file.name);
    const [digest, other] = file.digests ?? [];
    try {
      if (digest !== undefined && other === undefined && (await objects.has(digest))) {
        return { file, object: { sha256: digest, bytes: file.bytes } };
      }
      return { file, object: await objects.putFile(path, file.digests) };
    } catch (error) {
      const lack = await this.#judge(file, error);
      return { file, ...(lack && { lack }) };
    }
  }

  /** Why a file cannot be had, by the record as it is now; undefined when it was erased since. */
  async #judge(file: NamedSound, error: unknown): Promise<Lack | undefined> {
    const { folder, signal } = this.#copy;
    signal.throwIfAborted();
    const why = whyOf(error);
    if (why === undefined) throw diskFault(error, folder);
    await assertThere(folder);
    const now = await this.#copy.lookUp(file);
    if (now === undefined) {
      this.#erased += 1;
      return undefined;
    }
    const isReplaced = now.digests?.join() !== file.digests?.join();
    if (error instanceof UnexpectedContent && isReplaced) throw new RecordMovedOn();
    const isKnown = file.isDamaged || now.isDamaged;
    return { session: file.session, name: file.name, why, isKnown };
  }
}

/** Undefined when it is not the file alone that is at fault. */
function whyOf(error: unknown): Lack["why"] | undefined {
  if (error instanceof UnexpectedContent) return "changed";
  const code = errorCode(error);
  if (code === "ENOENT" || code === "ENOTDIR") return "gone";
  return code === "EIO" || code === "EISDIR" ? "unreadable" : undefined;
}
