import { signal } from "@preact/signals";

/** A change of one line that was carried out. */
interface LineChange {
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
  /** The line as it stands, undefined when it is gone. */
  find(lineId: string): LineState | undefined;
  /** Stores the members that are given. Rejects when the line cannot be changed. */
  store(lineId: string, change: Partial<LineState>): Promise<void>;
}

/** Older changes cannot be undone. */
const MOST = 100;

/**
 * What this person has changed in the open session, so that it can be undone and redone. What
 * somebody else has changed since is never undone with it.
 */
export class EditHistory {
  readonly canUndo = signal(false);
  readonly canRedo = signal(false);
  readonly #lines: EditedLines;
  #done: LineChange[] = [];
  #undone: LineChange[] = [];
  /** One after the other, also when somebody presses faster than the service answers. */
  #work: Promise<unknown> = Promise.resolve();

  constructor(lines: EditedLines) {
    this.#lines = lines;
  }

  /** Keeps a change that was carried out. */
  add(change: LineChange): void {
    if (isSame(change.before, change.after)) return;
    this.#done = [...this.#done, change].slice(-MOST);
    this.#undone = [];
    this.#tell();
  }

  /** Takes the newest change back. Resolves to what became of it, for people; "" when there is none. */
  undo(): Promise<string> {
    return this.#next("undo");
  }

  redo(): Promise<string> {
    return this.#next("redo");
  }

  #next(way: "undo" | "redo"): Promise<string> {
    const reverted = this.#work.then(() => this.#revert(way));
    this.#work = reverted.catch(() => undefined);
    return reverted;
  }

  async #revert(way: "undo" | "redo"): Promise<string> {
    const [from, to] = way === "undo" ? [this.#done, this.#undone] : [this.#undone, this.#done];
    const change = from.at(-1);
    if (change === undefined) return "";
    const [now, then] =
      way === "undo" ? [change.after, change.before] : [change.before, change.after];
    try {
      const line = this.#lines.find(change.lineId);
      const isTheirs = line === undefined || !isSame(line, now);
      if (!isTheirs) await this.#lines.store(change.lineId, differenceOf(now, then));
      from.pop();
      if (isTheirs) return "The line has been changed since by somebody else, and stays.";
      to.push(change);
      return way === "undo" ? "Undone." : "Done again.";
    } finally {
      this.#tell();
    }
  }

  #tell(): void {
    this.canUndo.value = this.#done.length > 0;
    this.canRedo.value = this.#undone.length > 0;
  }
}

function isSame(one: LineState, other: LineState): boolean {
  return one.text === other.text && one.speaker === other.speaker;
}

function differenceOf(now: LineState, then: LineState): Partial<LineState> {
  return {
    ...(now.text !== then.text && { text: then.text }),
    ...(now.speaker !== then.speaker && { speaker: then.speaker }),
  };
}
