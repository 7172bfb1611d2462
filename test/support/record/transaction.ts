import type { Timer } from "../../../src/base/runtime.ts";
import type { Locker, LockMode, RowLock } from "./row-lock.ts";

/** A row that a transaction has written. */
interface Written {
  commit(commit: number, oldest: number): void;
  undo(): void;
}

/** A transaction at the server. */
export class Transaction implements Locker {
  /** Unix ms: what `now()` gives in it. */
  readonly startedAt: number;
  /** Set for one that sees the state of its first statement throughout. */
  readonly repeatable: boolean;
  readonly readOnly: boolean;
  readonly held = new Set<RowLock>();
  readonly written = new Set<Written>();
  waiting: { lock: RowLock; mode: LockMode } | undefined;
  /** Why it can do nothing more. */
  ended: Error | undefined;
  /** The newest commit that it sees, once it is repeatable and has begun to look. */
  sees: number | undefined;
  /** Ends it when nothing comes any more. */
  idle: Timer | undefined;

  constructor(startedAt: number, modes: { repeatable?: boolean; readOnly?: boolean } = {}) {
    this.startedAt = startedAt;
    this.repeatable = modes.repeatable ?? false;
    this.readOnly = modes.readOnly ?? false;
  }
}
