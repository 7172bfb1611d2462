import { signal } from "@preact/signals";

/** A change of one line that was carried out. */
export interface LineChange {
  readonly lineId: string;
  readonly before: LineState;
  readonly after: LineState;
}

/** What people change of a line. */
export interface LineState {
  readonly text: string;
  readonly speaker: string;
}

/** What the history needs of the session. */
interface EditedLines {
  /**
   * Makes the line `then`, which it may be already. What the service has counts: what is shown may be
   * older. Rejects with `ChangedSince` when the line is gone or is neither that nor `now`, and with what
   * else went wrong when it cannot be changed.
   */
  store(lineId: string, now: LineState, then: LineState): Promise<void>;
}

/** Somebody else was quicker. */
export class ChangedSince extends Error {
  override readonly name = "ChangedSince";
}

type Way = "undo" | "redo";

/** Something that was carried out, with its way back. */
export interface Change {
  /**
   * Takes it back, or does it again. Resolves to what was done, for people, and whether that counts:
   * where `isDone` is false somebody has changed it since, and it is forgotten. Rejects when it may be
   * tried again.
   */
  revert(way: Way): Promise<{ said: string; isDone: boolean }>;
}

/** Older changes cannot be undone. */
const MOST = 100;

const SAID: Readonly<Record<Way, string>> = { undo: "Undone.", redo: "Done again." };

/**
 * What this person has changed in the open session, so that it can be undone and redone. What
 * somebody else has changed since is never undone with it.
 */
export class EditHistory {
  readonly canUndo = signal(false);
  readonly canRedo = signal(false);
  readonly #lines: EditedLines;
  #done: Change[] = [];
  #undone: Change[] = [];
  /** One after the other, also when somebody presses faster than the service answers. */
  #work: Promise<unknown> = Promise.resolve();

  constructor(lines: EditedLines) {
    this.#lines = lines;
  }

  /** Keeps a change of a line that was carried out. */
  add(change: LineChange): void {
    this.addAll([change]);
  }

  /** Keeps changes of several lines as one: they are undone together, but for those that others changed. */
  addAll(changes: readonly LineChange[]): void {
    const kept = changes.filter(({ before, after }) => !isSame(before, after));
    if (kept.length > 0) this.push({ revert: (way) => this.#revertLines(kept, way) });
  }

  /** Keeps anything else that was carried out and has a way back. */
  push(change: Change): void {
    this.#done = [...this.#done, change].slice(-MOST);
    this.#undone = [];
    this.#notify();
  }

  /** Takes the newest change back. Resolves to what became of it, for people; "" when there is none. */
  undo(): Promise<string> {
    return this.#next("undo");
  }

  redo(): Promise<string> {
    return this.#next("redo");
  }

  /** Takes this very change back, if it is the newest still; otherwise says that others come first. */
  undoThis(change: Change): Promise<string> {
    return this.#inTurn(() => {
      if (this.#done.at(-1) === change) return this.#revert("undo");
      return Promise.resolve("Something was changed since: undo that first.");
    });
  }

  /** The newest change, for `undoThis`. */
  get newest(): Change | undefined {
    return this.#done.at(-1);
  }

  #next(way: Way): Promise<string> {
    return this.#inTurn(() => this.#revert(way));
  }

  #inTurn(work: () => Promise<string>): Promise<string> {
    const reverted = this.#work.then(work);
    this.#work = reverted.catch(() => undefined);
    return reverted;
  }

  async #revert(way: Way): Promise<string> {
    const change = (way === "undo" ? this.#done : this.#undone).at(-1);
    if (change === undefined) return "";
    try {
      const { said, isDone } = await change.revert(way);
      // Something else may have been changed meanwhile.
      const others = (each: Change) => each !== change;
      this.#done = this.#done.filter(others);
      this.#undone = this.#undone.filter(others);
      if (isDone) (way === "undo" ? this.#undone : this.#done).push(change);
      return said;
    } finally {
      this.#notify();
    }
  }

  /** Lines that somebody else has changed stay, and are told. */
  async #revertLines(changes: readonly LineChange[], way: Way) {
    let stay = 0;
    for (const change of changes) {
      const [now, then] =
        way === "undo" ? [change.after, change.before] : [change.before, change.after];
      if (!(await this.#isStored(change.lineId, now, then))) stay += 1;
    }
    if (stay === 0) return { said: SAID[way], isDone: true };
    if (stay === changes.length) return { said: THEIRS, isDone: false };
    const rest =
      stay === 1
        ? "1 line was changed since by somebody else, and stays."
        : `${stay} lines were changed since by somebody else, and stay.`;
    return { said: `${SAID[way]} ${rest}`, isDone: true };
  }

  /** False when somebody else was quicker. */
  async #isStored(lineId: string, now: LineState, then: LineState): Promise<boolean> {
    try {
      await this.#lines.store(lineId, now, then);
      return true;
    } catch (error) {
      if (error instanceof ChangedSince) return false;
      throw error;
    }
  }

  #notify(): void {
    this.canUndo.value = this.#done.length > 0;
    this.canRedo.value = this.#undone.length > 0;
  }
}

const THEIRS = "The line has been changed since by somebody else, and stays.";

export function isSame(one: LineState, other: LineState): boolean {
  return one.text === other.text && one.speaker === other.speaker;
}

/** The members of `then` that `now` has not. */
export function differenceOf(now: LineState, then: LineState): Partial<LineState> {
  return {
    ...(now.text !== then.text && { text: then.text }),
    ...(now.speaker !== then.speaker && { speaker: then.speaker }),
  };
}
