import { SYSTEM } from "../../access/audit-entry.ts";
import { AppError } from "../../base/errors.ts";
import type { Log } from "../../base/log.ts";
import type { Runtime } from "../../base/runtime.ts";
import { type Progress, WorkList } from "../../base/work/work-list.ts";
import type { AudioStore } from "../recording/audio-store/audio-store.ts";
import type { AccountErasures } from "./account-erasure.ts";
import type { ErasureLedger } from "./ledger/erasure-ledger.ts";
import { type LedgerEntry, SESSION_ERASURES } from "./ledger/ledger-folder.ts";
import type { ErasureLedgerStore } from "./ledger/ledger-store.ts";
import type { SessionErasure } from "./session-erasure.ts";

const PAGE = 200;
/** So long a start waits without any progress, milliseconds. */
const PATIENCE_MS = 30_000;

interface RepeatedErasureOptions {
  ledger: ErasureLedger;
  records: ErasureLedgerStore;
  sessions: SessionErasure;
  accounts: AccountErasures;
  audio: Pick<AudioStore, "sessions" | "sessionsAside" | "delete">;
  /** Forgets remembered voices that the ledger names; resolves to how many were there. */
  forgetVoices: () => Promise<number>;
  runtime: Runtime;
  log: Log;
}

/**
 * Erases again what is on the ledger and is there all the same, and ends rights and forgets voices again, because the database or the audio
 * was restored from a backup.
 */
export class RepeatedErasure {
  readonly #options: RepeatedErasureOptions;
  readonly #undone: WorkList<LedgerEntry>;
  /** Accounts that could not be erased as nobody would be left to administer. */
  readonly #kept = new Set<string>();

  constructor(options: RepeatedErasureOptions) {
    const { records, runtime, log } = options;
    this.#options = options;
    this.#undone = new WorkList({
      page: PAGE,
      read: (limit, except) => records.undone(limit, [...except, ...this.#kept]),
      keyOf: ({ id }) => id,
      work: (entry) => this.#eraseAgain(entry),
      clock: runtime,
      log,
      trouble: "what was erased is there again and could not be erased yet",
      field: "erased_id",
    });
  }

  /** How many erasures could not be repeated when last tried. */
  get failing(): number {
    return this.#undone.failing;
  }

  /** Reads the ledger anew, and erases a page of what is on it. */
  async run(): Promise<Progress> {
    await this.#options.ledger.check();
    await this.#endAgain();
    this.#kept.clear();
    const { done, more } = await this.#undone.run();
    return { done: done + (await this.#removeSounds()), more };
  }

  /**
   * Erases all of it: before anybody is served. Throws `unavailable` when something cannot be erased.
   * The account of the only administrator stays until there is another one.
   */
  async complete(): Promise<void> {
    const { ledger, runtime } = this.#options;
    await ledger.check();
    await this.#endAgain();
    if (!(await this.#undone.complete(PATIENCE_MS, runtime))) throw stuck();
    await this.#removeSounds();
  }

  async #endAgain(): Promise<void> {
    const { records, forgetVoices, log } = this.#options;
    const rights = await records.endRightsAgain();
    if (rights > 0) log.warn({ rights }, "keys and sign-ins that had ended were there again");
    const voices = await forgetVoices();
    if (voices > 0) log.warn({ voices }, "remembered voices that were forgotten were there again");
  }

  async #eraseAgain({ id, kind }: LedgerEntry): Promise<void> {
    const { sessions, accounts, log } = this.#options;
    const session = SESSION_ERASURES.find((each) => each === kind);
    if (session !== undefined) {
      await sessions.erase(id, session, SYSTEM);
      return;
    }
    if (kind !== "account_erased") return;
    if ((await accounts.erase(id, SYSTEM)) !== "last_admin") return;
    this.#kept.add(id);
    const message =
      "an erased account is there again, and stays: it is the only administrator. Make another one, and it is erased within the hour";
    log.error({ user_id: id }, message);
  }

  /** Removes audio of erased sessions that a restored database does not have. */
  async #removeSounds(): Promise<number> {
    const { audio, records, log } = this.#options;
    let done = 0;
    for (const sessions of [audio.sessions(), audio.sessionsAside()]) {
      for await (const page of sessions) {
        for (const id of await records.orphaned(page)) {
          await audio.delete(id);
          done += 1;
        }
      }
    }
    if (done > 0) log.info({ sessions: done }, "audio of erased sessions removed");
    return done;
  }
}

function stuck(): AppError {
  return new AppError(
    "unavailable",
    "Something that the ledger of erasures names is in the database again and cannot be erased; the log says why. Nobody is served until it is.",
  );
}
