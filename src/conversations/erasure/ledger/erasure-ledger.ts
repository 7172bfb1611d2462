import { type Clock, toTimestamp } from "../../../base/clock.ts";
import { withTimeout } from "../../../base/deferred.ts";
import { AppError } from "../../../base/errors.ts";
import { newId } from "../../../base/ids.ts";
import type { Log } from "../../../base/log.ts";
import type { Progress } from "../../../base/work/work-list.ts";
import type { LedgerFileId, LedgerFolder, Refusal } from "./ledger-folder.ts";
import type { ErasureLedgerStore, LedgerGap } from "./ledger-store.ts";

/** Erasures of one file. */
const MOST_ENTRIES = 500;
/** Other chains whose last file the first one of a chain names. */
const MOST_TAILS = 100;
const MOST_GAPS = 5;
const WRITE_MS = 30_000;
/** A write that began before the erasure was committed does not have it. */
const TRIES = 3;

interface ErasureLedgerOptions {
  folder: LedgerFolder;
  records: ErasureLedgerStore;
  clock: Clock;
  log: Log;
}

/**
 * What was erased, outside of the database: a database that is restored brings back what was erased
 * since, and the ledger says what to erase again. Erasures are noted in the transaction that does
 * them, and written to the ledger after it, at the latest by maintenance. Several processes may write
 * and read at once.
 */
export class ErasureLedger {
  readonly #options: ErasureLedgerOptions;
  #chain: LedgerFileId & { at: number };
  #writing: Promise<unknown> = Promise.resolve();
  #next: Promise<Progress> | undefined;
  #faults: readonly string[] = [];

  constructor(options: ErasureLedgerOptions) {
    this.#options = options;
    this.#chain = this.#newChain();
  }

  /** What the last check found wrong, for operators. */
  get faults(): readonly string[] {
    return this.#faults;
  }

  /** Resolves when the erasure of this session or account is in a durable file. */
  async record(id: string): Promise<void> {
    for (let tries = 0; tries < TRIES; tries += 1) {
      await withTimeout(this.recordPending(), WRITE_MS, "The ledger of erasures");
      if (!(await this.#options.records.isPending(id))) return;
    }
    throw new AppError("unavailable", "The erasure is not in the ledger yet.");
  }

  /**
   * Writes a file of erasures that are in none. One write is under way and one waits: whoever asks
   * meanwhile shares it.
   */
  recordPending(): Promise<Progress> {
    this.#next ??= this.#writing.then(() => {
      this.#next = undefined;
      const write = this.#write();
      this.#writing = write.catch(() => {});
      return write;
    });
    return this.#next;
  }

  /**
   * Reads files that this database does not know, as after a restore of either, refuses those that
   * are not this installation's, and finds out which are missing. Throws when the folder cannot be
   * read.
   */
  async check(): Promise<void> {
    const { folder, records, log } = this.#options;
    const known = await records.known();
    const present = await folder.list();
    const refused = await this.#mergeNew(present, new Set(known.map(nameOf)));
    const there = new Set(present.map(nameOf));
    const gone: LedgerFileId[] = [];
    for (const place of known) {
      if (!place.isSettled || there.has(nameOf(place))) continue;
      if (!(await folder.has(place))) gone.push(place);
    }
    if (gone.length > 0) await records.lose(gone);
    await records.closeGaps();
    const gaps = await records.gaps(MOST_GAPS);
    this.#faults = [...refused.map((each) => this.#refusal(each)), ...this.#missing(gaps)];
    for (const fault of this.#faults) log.error({}, fault);
  }

  async #mergeNew(
    present: readonly LedgerFileId[],
    known: ReadonlySet<string>,
  ): Promise<[Refusal, number][]> {
    const { folder, records, log } = this.#options;
    const refused = new Map<Refusal, number>();
    let [files, entries] = [0, 0];
    for (const place of present) {
      if (known.has(nameOf(place))) continue;
      const file = await folder.read(place);
      if (file === undefined) continue;
      if (typeof file === "string") {
        refused.set(file, (refused.get(file) ?? 0) + 1);
        continue;
      }
      const { news } = await records.merge(file);
      files += 1;
      entries += news;
    }
    if (entries > 0) log.warn({ files, entries }, "erasures that this database did not know");
    return [...refused];
  }

  async #write(): Promise<Progress> {
    const { folder, records, clock } = this.#options;
    const entries = await records.pending(MOST_ENTRIES);
    if (entries.length === 0) return { done: 0, more: false };
    const { chain, number, at: since } = this.#chain;
    const after = number === 0 ? await records.tails(MOST_TAILS) : [];
    const file = { chain, number: number + 1, since, at: clock.now(), after, entries };
    try {
      await folder.write(file);
    } catch (error) {
      // It may have got its name all the same: no other file may have that.
      this.#chain = this.#newChain();
      throw error;
    }
    this.#chain = file;
    await records.merge(file);
    return { done: entries.length, more: entries.length === MOST_ENTRIES };
  }

  #newChain(): LedgerFileId & { at: number } {
    const at = this.#options.clock.now();
    return { chain: newId(at), number: 0, at };
  }

  #refusal([refusal, files]: [Refusal, number]): string {
    const { path } = this.#options.folder;
    return `Refused ${countOf(files)} of the ledger of erasures in ${path}: ${REASONS[refusal]}.`;
  }

  #missing(gaps: readonly LedgerGap[]): string[] {
    if (gaps.length === 0) return [];
    const { path } = this.#options.folder;
    const spans = gaps.map(
      ({ files, since, at }) =>
        `${countOf(files)} written between ${toTimestamp(since)} and ${toTimestamp(at)}`,
    );
    return [
      `The ledger of erasures lacks ${spans.join("; ")}. What this database knows of them was written again; what was erased then and has come back with a restored database is not erased again. Copy the files that are missing to ${path}.`,
    ];
  }
}

const REASONS: Readonly<Record<Refusal, string>> = {
  foreign: "signed with other keys than this installation's",
  forged: "not as it was written",
  unreadable: "not a file of a ledger, or cut off",
};

function countOf(files: number): string {
  return files === 1 ? "1 file" : `${files} files`;
}

function nameOf({ chain, number }: LedgerFileId): string {
  return `${chain}-${number}`;
}
