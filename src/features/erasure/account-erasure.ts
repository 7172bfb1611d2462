import type { RevocationFeed } from "../../access/revocation-feed.ts";
import type { Clock } from "../../base/clock.ts";
import type { SessionEraser } from "./session-eraser.ts";
import type { AccountEraser, AccountErasure } from "./users-erase.ts";

/** Sessions deleted while the caller waits; the rest is housekeeping's. */
const BUDGET_MS = 10_000;
const PAGE = 50;

/** Port: the record's part of an account's erasure. */
export interface AccountRecords {
  /** Takes the person out of the account, in one transaction with its audit entry. */
  erase(userId: string): Promise<{ deviceIds: string[] } | "last_admin" | undefined>;
  /** Sessions of erased accounts that are not deleted yet, with their owners. */
  orphanedSessions(limit: number, userId?: string): Promise<{ id: string; ownerId: string }[]>;
  countOrphaned(userId: string): Promise<number>;
}

interface AccountErasureParts {
  accounts: AccountRecords;
  sessions: SessionEraser;
  revocations: Pick<RevocationFeed, "publish">;
  clock: Clock;
}

/** Erases people: the account first, so that it does nothing more, then what it owns. */
export class AccountErasures implements AccountEraser {
  readonly #parts: AccountErasureParts;

  constructor(parts: AccountErasureParts) {
    this.#parts = parts;
  }

  async erase(userId: string): Promise<AccountErasure | "last_admin" | undefined> {
    const { accounts, revocations, clock } = this.#parts;
    const erased = await accounts.erase(userId);
    if (erased === undefined || erased === "last_admin") return erased;
    revocations.publish({ kind: "user", userId });
    for (const deviceId of erased.deviceIds) revocations.publish({ kind: "device", deviceId });
    const until = clock.monotonic() + BUDGET_MS;
    let sessionsDeleted = 0;
    while (clock.monotonic() < until) {
      const done = await this.#deletePage(userId);
      sessionsDeleted += done;
      if (done < PAGE) break;
    }
    const sessionsLeft = await accounts.countOrphaned(userId);
    return { sessionsDeleted, sessionsLeft, devicesUnpaired: erased.deviceIds.length };
  }

  /** Deletes what erased accounts still own; returns how many sessions. */
  finish(): Promise<number> {
    return this.#deletePage();
  }

  async #deletePage(userId?: string): Promise<number> {
    const { accounts, sessions } = this.#parts;
    const orphaned = await accounts.orphanedSessions(PAGE, userId);
    for (const { id, ownerId } of orphaned) {
      await sessions.erase(id, "account_erasure_session_redacted", { kind: "user", id: ownerId });
    }
    return orphaned.length;
  }
}
