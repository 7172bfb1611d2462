import type { Clock } from "../../../base/clock.ts";
import { AppError, errnoOf, isAppError, systemFault } from "../../../base/errors.ts";
import type { AsideFile, StoredFile } from "./audio-store.ts";
import { type MovingStore, STORE_MARK, type Transfer } from "./moving-store.ts";
import { s3FaultOf, s3ReasonOf } from "./s3-faults.ts";

/** Files of one session that are brought over at once. */
const AT_ONCE = 4;

/** Behind which session a move goes on: of files in use, or of those that are set aside. */
export interface MovePosition {
  kind: "files" | "aside";
  sessionId: string;
}

/** A file that stays where it was. */
interface LeftFile {
  sessionId: string;
  sha256: string;
  /** `differs`: another one has its name in the new store. `unreadable`: the store does not give it. */
  why: "differs" | "unreadable";
}

interface MovedPortion {
  /** Brought over; with `isDry` those that there are. */
  files: number;
  bytes: number;
  /** Not brought over, as their session was deleted. */
  erased: number;
  left: LeftFile[];
  /** Absent when all was gone through. */
  next?: MovePosition;
  /** The former store has nothing any more; told at the end. */
  isEmpty?: boolean;
}

interface PortionOptions {
  after: MovePosition | undefined;
  /** No further session is begun beyond either. */
  most: { bytes: number; ms: number };
  /** Counts, and leaves everything as it is. */
  isDry: boolean;
  signal: AbortSignal;
}

/** Moves kept audio into the store that is in use, one bounded portion after the other. */
export class AudioMove {
  readonly #store: MovingStore;
  readonly #clock: Pick<Clock, "monotonic">;

  constructor(store: MovingStore, clock: Pick<Clock, "monotonic">) {
    this.#store = store;
    this.#clock = clock;
  }

  get addresses(): { from: string; to: string } {
    return { from: this.#store.former.names.address, to: this.#store.names.address };
  }

  /**
   * Moves the files behind `after`. Throws `unavailable` or `storage_full`, with what to do, when a store or
   * the database is away: what was moved stays moved.
   */
  async portion(options: PortionOptions): Promise<MovedPortion> {
    try {
      return await this.#portion(options);
    } catch (error) {
      const fault = isAppError(error) ? error : systemFault(error, true);
      if (fault === undefined) throw error;
      throw new AppError(fault.code, `${reasonOf(fault)} What was moved stays moved.`, {
        cause: error,
        ...(fault.retryAfter !== undefined && { retryAfter: fault.retryAfter }),
      });
    }
  }

  async #portion({ after, most, isDry, signal }: PortionOptions): Promise<MovedPortion> {
    const endsAt = this.#clock.monotonic() + most.ms;
    const done: MovedPortion = { files: 0, bytes: 0, erased: 0, left: [] };
    let at = after;
    for (const kind of ["files", "aside"] as const) {
      if (at?.kind === "aside" && kind === "files") continue;
      const behind = at?.kind === kind ? at.sessionId : "";
      for await (const sessionId of this.#sessions(kind, behind)) {
        const isEnough = done.bytes >= most.bytes || this.#clock.monotonic() >= endsAt;
        if (at !== undefined && at !== after && (isEnough || signal.aborted)) {
          return { ...done, next: at };
        }
        if (kind === "files") await this.#moveFiles(sessionId, isDry, done);
        else await this.#moveAside(sessionId, isDry, done);
        at = { kind, sessionId };
      }
    }
    return { ...done, isEmpty: !isDry && (await this.#isEmptied()) };
  }

  async *#sessions(kind: MovePosition["kind"], behind: string): AsyncGenerator<string> {
    const { former } = this.#store;
    const pages = kind === "files" ? former.sessions() : former.sessionsAside();
    for await (const page of pages) yield* page.filter((id) => id > behind);
  }

  async #moveFiles(sessionId: string, isDry: boolean, done: MovedPortion): Promise<void> {
    const files = await this.#store.former.files(sessionId);
    const move = async (file: StoredFile) => {
      const { sha256, bytes } = file;
      const transfer = () => this.#store.transfer(sessionId, sha256);
      await this.#count(done, { sessionId, sha256, bytes }, isDry ? undefined : transfer);
    };
    for (let at = 0; at < files.length; at += AT_ONCE) {
      await Promise.all(files.slice(at, at + AT_ONCE).map(move));
    }
    for (const { log } of await this.#store.former.logs(sessionId)) {
      const transfer = () => this.#store.transferLog(sessionId, log);
      await this.#count(done, { sessionId, sha256: log, bytes: 0 }, isDry ? undefined : transfer);
    }
  }

  async #moveAside(sessionId: string, isDry: boolean, done: MovedPortion): Promise<void> {
    for (const file of await this.#store.former.filesAside(sessionId)) {
      const transfer = () => this.#store.transferAside(sessionId, file satisfies AsideFile);
      const { sha256 } = file;
      await this.#count(done, { sessionId, sha256, bytes: 0 }, isDry ? undefined : transfer);
    }
  }

  async #count(
    done: MovedPortion,
    { sessionId, sha256, bytes }: StoredFile & { sessionId: string },
    transfer: (() => Promise<Transfer>) | undefined,
  ): Promise<void> {
    let result: Transfer | "unreadable";
    try {
      result = (await transfer?.()) ?? "moved";
    } catch (error) {
      if (isAppError(error) || errnoOf(error) === undefined) throw error;
      result = "unreadable";
    }
    if (result === "gone") return;
    if (result === "erased") {
      done.erased += 1;
    } else if (result === "moved") {
      done.files += 1;
      done.bytes += bytes;
    } else done.left.push({ sessionId, sha256, why: result });
  }

  /**
   * Whether the former store has nothing any more. Its mark goes then, so that a service that is started
   * with it alone says so.
   */
  async #isEmptied(): Promise<boolean> {
    const { former } = this.#store;
    for (const pages of [former.sessions(), former.sessionsAside()]) {
      for await (const page of pages) {
        for (const sessionId of page) {
          for (const kind of ["files", "logs", "filesAside"] as const) {
            if ((await former[kind](sessionId)).length > 0) return false;
          }
        }
      }
    }
    await former.marks.remove(STORE_MARK);
    return true;
  }
}

/** What a store said, for the operator who asked for the move. */
function reasonOf(error: AppError): string {
  const { cause } = error;
  const isFull = error.code === "storage_full";
  if (!isFull && s3FaultOf(cause).status !== undefined) return s3ReasonOf(cause);
  const errno = errnoOf(cause);
  const said = cause instanceof Error ? ` (${errno ?? cause.message})` : "";
  return `${error.message.replace(/ Please try again\.$/, "").replace(/\.$/, "")}${said}.`;
}
