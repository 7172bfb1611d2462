import { type AuditEntry, actorOf } from "../../access/audit-trail.ts";
import type { UserPrincipal } from "../../access/principal.ts";
import type { RevocationFeed } from "../../access/revocation-feed.ts";
import { AppError } from "../../base/errors.ts";
import type { Account } from "./account-book.ts";
import type { AttemptBudget, AttemptPolicy } from "./attempt-budget.ts";
import type { PasswordHasher } from "./password-hasher.ts";
import { checkPassword } from "./password-rule.ts";

/** Whoever holds a token may guess the password five times, then once a minute. */
const GUESSES: AttemptPolicy = { burst: 5, interval: 60_000 };

/** Port: passwords on record. */
export interface PasswordBook {
  account(userId: string): Promise<Account | undefined>;
  /**
   * Replaces one hash by another and ends every other login, every refresh token
   * and every sign-in link of the account; false, and nothing done, when `before` no longer stands.
   */
  change(
    change: { userId: string; before: string; after: string; keptLoginId: string },
    entry: AuditEntry,
  ): Promise<boolean>;
}

interface PasswordChangeParts {
  book: PasswordBook;
  attempts: AttemptBudget;
  passwords: Pick<PasswordHasher, "hash" | "verify">;
  revocations: Pick<RevocationFeed, "publish">;
}

/** Changing one's own password. */
export class PasswordChanges {
  readonly #parts: PasswordChangeParts;

  constructor(parts: PasswordChangeParts) {
    this.#parts = parts;
  }

  /**
   * Rejects with `invalid_body` for a password that nobody should have,
   * `invalid_credentials` when `current` is wrong, `conflict` when the account
   * has no password, `rate_limited` after too many guesses.
   */
  async change(caller: UserPrincipal, current: string, fresh: string): Promise<void> {
    const { attempts, book, passwords, revocations } = this.#parts;
    const account = await book.account(caller.id);
    if (account === undefined) throw new AppError("invalid_token", "The account is gone.");
    checkPassword(fresh, account.email);
    const budget = `password\u0000${caller.id}`;
    const wait = await attempts.take(budget, GUESSES);
    if (wait !== undefined) {
      throw new AppError("rate_limited", `Too many attempts. Please wait ${wait} s.`, {
        retryAfter: wait,
      });
    }
    const { passwordHash: before } = account;
    if (before === undefined) {
      throw new AppError("conflict", "This account has no password; it signs in another way.");
    }
    if (!(await passwords.verify(before, current))) throw wrongPassword();
    const after = await passwords.hash(fresh);
    const change = { userId: caller.id, before, after, keptLoginId: caller.tokenId };
    const entry = {
      kind: "password_changed",
      actor: actorOf(caller),
      subjectId: caller.id,
    } as const;
    if (!(await book.change(change, entry))) throw wrongPassword();
    await attempts.restore(budget);
    revocations.publish({ kind: "user", userId: caller.id });
  }
}

function wrongPassword(): AppError {
  return new AppError("invalid_credentials", "The current password is not right.");
}
