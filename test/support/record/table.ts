import { RowLock } from "./row-lock.ts";
import type { Transaction } from "./transaction.ts";

/** One row through time. `undefined` stands for no row: not yet, or no more. */
export class Slot<R> {
  readonly key: string;
  readonly lock = new RowLock();
  /** Set while a transaction that has not ended has another row here. */
  writer: Transaction | undefined;
  #pending: R | undefined;
  /** Committed, oldest first. */
  #versions: { commit: number; row: R | undefined }[] = [];
  readonly #onGone: () => void;

  /** `onGone`: told when there is no row any more for anybody. */
  constructor(key: string, onGone: () => void) {
    this.key = key;
    this.#onGone = onGone;
  }

  /** As a statement sees it that began when `commit` was the newest commit. */
  seen(by: Transaction, commit: number): R | undefined {
    if (this.writer === by) return this.#pending;
    return this.#versions.findLast((version) => version.commit <= commit)?.row;
  }

  /** As it is now, for who holds its lock. */
  newest(by: Transaction): R | undefined {
    if (this.writer === by) return this.#pending;
    return this.#versions.at(-1)?.row;
  }

  write(by: Transaction, row: R | undefined): void {
    this.writer = by;
    this.#pending = row;
    by.written.add(this);
  }

  /** Keeps the older rows that a statement begun at `oldest` may still ask for. */
  commit(commit: number, oldest: number): void {
    const past = this.#versions.findLastIndex((version) => version.commit <= oldest);
    if (past > 0) this.#versions = this.#versions.slice(past);
    this.#versions.push({ commit, row: this.#pending });
    if (oldest >= commit) this.#versions = this.#versions.slice(-1);
    this.undo();
    const [only, ...others] = this.#versions;
    if (only?.row === undefined && others.length === 0 && !this.lock.isWanted) this.#onGone();
  }

  undo(): void {
    this.writer = undefined;
    this.#pending = undefined;
  }
}

/** Rows by their key, and by the session (or whatever else) that they belong to. */
export class Table<R extends object> {
  readonly name: string;
  readonly #keyOf: (row: R) => string;
  readonly #groupOf: (row: R) => string;
  readonly #slots = new Map<string, Slot<R>>();
  readonly #groups = new Map<string, Map<string, Slot<R>>>();

  constructor(name: string, keyOf: (row: R) => string, groupOf: (row: R) => string) {
    this.name = name;
    this.#keyOf = keyOf;
    this.#groupOf = groupOf;
  }

  keyOf(row: R): string {
    return this.#keyOf(row);
  }

  slot(key: string): Slot<R> | undefined {
    return this.#slots.get(key);
  }

  /** That of a row to come. */
  slotFor(row: R): Slot<R> {
    const key = this.#keyOf(row);
    const known = this.#slots.get(key);
    if (known !== undefined) return known;
    const group = this.#groupOf(row);
    const slots = this.#groups.get(group) ?? new Map<string, Slot<R>>();
    const slot = new Slot<R>(key, () => {
      this.#slots.delete(key);
      slots.delete(key);
    });
    this.#slots.set(key, slot);
    this.#groups.set(group, slots.set(key, slot));
    return slot;
  }

  slots(group?: string): Iterable<Slot<R>> {
    if (group === undefined) return this.#slots.values();
    return this.#groups.get(group)?.values() ?? [];
  }
}
