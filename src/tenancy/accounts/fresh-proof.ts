import type { UserPrincipal } from "../../access/principal.ts";
import { AppError } from "../../base/errors.ts";
import type { AttemptStore } from "./attempts-store.ts";
import { PASSWORD_GUESSES, type PasswordHasher, passwordBudget, signedIn } from "./passwords.ts";
import type { PasswordStore } from "./passwords-store.ts";
import type { LoginStore } from "./sign-in-store.ts";

/** How long a sign-in proves that the person is there, in minutes. */
const FRESH_MINUTES = 5;

interface FreshProofOptions {
  logins: Pick<LoginStore, "isYoungerThan">;
  store: Pick<PasswordStore, "account">;
  attempts: AttemptStore;
  passwords: Pick<PasswordHasher, "verify">;
}

/** Asks the holder of a token to prove again who they are, before what cannot be undone. */
export class FreshProof {
  readonly #options: FreshProofOptions;

  constructor(options: FreshProofOptions) {
    this.#options = options;
  }

  /**
   * Resolves for the right password, and without one for a login that began less than five minutes
   * ago. Rejects with `proof_required`, `invalid_credentials` for a wrong password, or
   * `rate_limited` after too many.
   */
  async require(caller: UserPrincipal, password: string | undefined): Promise<void> {
    const { logins, store, passwords } = this.#options;
    if (password === undefined) {
      if (await logins.isYoungerThan(caller.tokenId, FRESH_MINUTES)) return;
      throw new AppError(
        "proof_required",
        `Send the account's password as \`current_password\`, or sign in again: a sign-in of the last ${FRESH_MINUTES} minutes is enough.`,
      );
    }
    await this.#spend(caller.id);
    const account = await store.account(caller.id);
    if (await passwords.verify(account?.passwordHash, password, signedIn(caller))) {
      await this.#options.attempts.restore(passwordBudget(caller.id));
      return;
    }
    throw new AppError("invalid_credentials", "The current password is not right.");
  }

  async #spend(userId: string): Promise<void> {
    const wait = await this.#options.attempts.take(passwordBudget(userId), PASSWORD_GUESSES);
    if (wait === undefined) return;
    throw new AppError("rate_limited", `Too many attempts. Please wait ${wait} s.`, {
      retryAfter: wait,
    });
  }
}
