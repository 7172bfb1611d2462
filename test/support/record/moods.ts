import type { SeededRandom } from "../seeded-random.ts";

/** How the way to the database is: at once refused, or nothing comes back from it. */
export type Reach = "open" | "refused" | "silent";

/** How the database treats a host, or all of them. Shares are of requests, 0 to 1. */
export interface Mood {
  /** Milliseconds of each way, from and to. */
  latency: readonly [number, number];
  /** Requests that take much longer, and by how many milliseconds at most. */
  slow: number;
  slowBy: number;
  /** The connection breaks, and what was asked for did not happen. */
  lost: number;
  /** The connection breaks after it happened: the caller cannot know. */
  unknown: number;
  /** Statements that take as long as they may, and fail (57014). */
  timedOut: number;
  /** Statements that are the victim of a deadlock (40P01). */
  deadlocked: number;
  /** The caller stands still in the middle of a transaction, with its locks. */
  stalled: number;
  stalledBy: number;
  /** As after a switchover: 25006 for all that writes. */
  readOnly: boolean;
  reach: Reach;
}

export const CALM: Mood = {
  latency: [0.1, 0.5],
  slow: 0,
  slowBy: 0,
  lost: 0,
  unknown: 0,
  timedOut: 0,
  deadlocked: 0,
  stalled: 0,
  stalledBy: 0,
  readOnly: false,
  reach: "open",
};

/** What is asked of the database; a `single` statement is its own transaction. */
export type Request = "begin" | "statement" | "commit" | "rollback" | "single";

/** What becomes of one request. */
export interface Fate {
  /** Milliseconds until it is there, and until the answer is back. */
  there: number;
  back: number;
  /** Milliseconds for which the caller stands still before it asks. */
  stall: number;
  readOnly: boolean;
  fault: "lost" | "unknown" | "timed out" | "deadlocked" | undefined;
}

/** What the database does to whom, by a seed. */
export class Moods {
  readonly #random: SeededRandom;
  #all: Partial<Mood> = {};
  readonly #hosts = new Map<string, Partial<Mood>>();
  #calmed = false;

  constructor(random: SeededRandom) {
    this.#random = random;
  }

  /** In place of what was said before: for one host, or for those of which nothing is said. */
  set(mood: Partial<Mood>, host?: string): void {
    if (host === undefined) this.#all = mood;
    else this.#hosts.set(host, mood);
  }

  /** From now on nothing goes wrong any more, whatever is set. */
  calm(): void {
    this.#calmed = true;
  }

  of(host: string): Mood {
    if (this.#calmed) return CALM;
    return { ...CALM, ...this.#all, ...this.#hosts.get(host) };
  }

  fate(host: string, request: Request): Fate {
    const mood = this.of(host);
    const inside = request === "statement" || request === "commit";
    return {
      there: this.#latency(mood),
      back: this.#latency(mood),
      stall: inside && this.#random.chance(mood.stalled) ? this.#random.next() * mood.stalledBy : 0,
      readOnly: mood.readOnly,
      fault: this.#fault(mood, request),
    };
  }

  #latency({ latency: [least, most], slow, slowBy }: Mood): number {
    const usual = least + this.#random.next() * (most - least);
    return slow > 0 && this.#random.chance(slow) ? usual + this.#random.next() * slowBy : usual;
  }

  #fault(mood: Mood, request: Request): Fate["fault"] {
    if (request === "rollback") return undefined;
    const runs = request === "statement" || request === "single";
    const at = this.#random.next();
    let share = mood.lost;
    if (at < share) return "lost";
    share += mood.unknown;
    if (at < share) return "unknown";
    share += runs ? mood.timedOut : 0;
    if (at < share) return "timed out";
    share += runs ? mood.deadlocked : 0;
    return at < share ? "deadlocked" : undefined;
  }
}
