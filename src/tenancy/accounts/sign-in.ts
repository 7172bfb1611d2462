import { type Static, Type } from "@sinclair/typebox";
import type { FailedSignInTrail } from "../../access/audit-entry.ts";
import type { GuestPrincipal, UserPrincipal } from "../../access/principal.ts";
import type { RevocationFeed } from "../../access/revocations.ts";
import type { Clock } from "../../base/clock.ts";
import { AppError } from "../../base/errors.ts";
import { newId } from "../../base/ids.ts";
import { networkOf } from "../../wire/network.ts";
import type { AttemptPolicy, AttemptStore } from "./attempts-store.ts";
import type { GuestRecords } from "./guest-records.ts";
import { comparableAddress } from "./mail-addresses.ts";
import type { PasswordHasher } from "./passwords.ts";
import type { SignInAddressStore } from "./sign-in-addresses-store.ts";
import type { LoginStore } from "./sign-in-store.ts";
import type { Tokens } from "./tokens.ts";
import type { Account, UserStore } from "./users-store.ts";

export const accountRoleSchema = Type.Union(
  [Type.Literal("admin"), Type.Literal("participant"), Type.Literal("moderator")],
  { $id: "AccountRole" },
);

export const loginResultSchema = Type.Object(
  {
    token: Type.String({ description: "An access token" }),
    user: Type.Object({ id: Type.String(), email: Type.String(), role: accountRoleSchema }),
  },
  { $id: "Login" },
);

/** The API's answer to a sign-in: the account and its access token. */
export function presentLogin({ token, account }: LoginResult): Static<typeof loginResultSchema> {
  const { id, email, role } = account;
  return { token, user: { id, email, role } };
}

const HOUR = 3_600_000;
const ACCESS_LIFETIME = HOUR;
/** Lifetime of a login in milliseconds; no refresh extends it. */
export const LOGIN_LIFETIME = 12 * HOUR;
/** Allows ten guesses, then two a minute, per account and address. */
const LOGIN_ATTEMPTS: AttemptPolicy = { burst: 10, interval: 30_000 };
/**
 * Allows fifty guesses, then six an hour, per account from all places together at which nobody
 * signed in to it of late.
 */
const STRANGERS_ATTEMPTS: AttemptPolicy = { burst: 50, interval: 600_000 };

/** Allows a hundred guesses, then twenty a minute, per address, whatever the accounts. */
const SOURCE_ATTEMPTS: AttemptPolicy = { burst: 100, interval: 3_000 };

interface SignInOptions {
  accounts: UserStore;
  logins: LoginStore;
  places: SignInAddressStore;
  guests: Pick<GuestRecords, "revoke">;
  failures: FailedSignInTrail;
  attempts: AttemptStore;
  passwords: PasswordHasher;
  tokens: Tokens;
  revocations: RevocationFeed;
  clock: Clock;
  /** Whether this installation sends sign-in links by mail. */
  sendsLinks: boolean;
}

interface LoginRequest {
  email: string;
  password: string;
  remember: boolean;
  /** The caller's address; guesses are counted per account and network of the address. */
  address: string;
}

export interface LoginResult {
  token: string;
  /** Undefined unless the caller asked to be remembered. */
  refreshToken: string | undefined;
  account: Account;
}

/** Signs users in, renews their access tokens and signs them out. */
export class SignIn {
  readonly #options: SignInOptions;

  constructor(options: SignInOptions) {
    this.#options = options;
  }

  /**
   * Rejects with `invalid_credentials`, in the same words and time, for an
   * unknown address, a wrong password and a disabled account; with
   * `rate_limited` after too many guesses, alike for an account that is not there.
   */
  async login(request: LoginRequest): Promise<LoginResult> {
    const { accounts, attempts, places } = this.#options;
    const name = comparableAddress(request.email);
    const { network } = networkOf(request.address);
    const budget = `login\u0000${name}\u0000${network}`;
    await this.#spend(budget, LOGIN_ATTEMPTS);
    const account = await accounts.findByEmail(request.email);
    const strangers = strangersBudget(name);
    const source = `login from\u0000${network}`;
    const isKnownPlace = await places.isKnown(account?.id, network);
    if (!isKnownPlace) {
      await this.#spend(source, SOURCE_ATTEMPTS);
      await this.#spend(strangers, STRANGERS_ATTEMPTS);
    }
    const hashed = account?.passwordHash;
    const asker = { from: network, known: isKnownPlace };
    const right = await this.#options.passwords.verify(hashed, request.password, asker);
    if (!right || account === undefined || hashed === undefined || account.disabled) {
      await this.#recordFailure(account, right, request.address);
      throw wrongCredentials();
    }
    const result = await this.#open(account, hashed, request.remember);
    if (result === undefined) throw wrongCredentials();
    await attempts.restore(budget);
    if (!isKnownPlace) {
      await attempts.refund(source, SOURCE_ATTEMPTS);
      await attempts.refund(strangers, STRANGERS_ATTEMPTS);
    }
    await places.remember(account.id, network);
    if (this.#options.passwords.isOutdated(hashed)) {
      const fresh = await this.#options.passwords.hash(request.password, asker);
      await accounts.rehashPassword(account.id, hashed, fresh);
    }
    return result;
  }

  /**
   * Lets everybody guess the account's password again who was refused because of others' guesses:
   * where no mail goes out, nothing else lets its holder in from a new place.
   */
  async forgive({ email }: Pick<Account, "email">): Promise<void> {
    await this.#options.attempts.restore(strangersBudget(comparableAddress(email)));
  }

  /**
   * Signs in an account whose holder proved their identity without the password, and gives no
   * refresh token. Rejects with `invalid_token` when the account is disabled.
   *
   * @param address the caller's; from then on guesses from elsewhere do not hold up logins from it
   */
  async enter(account: Account, address: string): Promise<LoginResult> {
    const result = await this.#open(account, undefined, false);
    if (result === undefined) throw new AppError("invalid_token", "This sign-in is not possible.");
    await this.#options.places.remember(account.id, networkOf(address).network);
    return result;
  }

  /** Returns a fresh access token for a refresh token. Rejects with `invalid_token`. */
  async refresh(refreshToken: string): Promise<string> {
    const { clock, logins, tokens } = this.#options;
    const claims = await tokens.verify(refreshToken, ["refresh"]);
    const status = await logins.status(claims.scope);
    if (!status?.refreshable || status.expiresAt <= clock.now()) {
      throw new AppError("invalid_token", "The sign-in has ended. Please sign in again.");
    }
    return this.#access(status.userId, status.loginId, status.expiresAt);
  }

  /** Ends the login, or the guest's visit, that the principal's token belongs to. */
  async logout(principal: UserPrincipal | GuestPrincipal): Promise<void> {
    const { guests, logins, revocations } = this.#options;
    if (principal.kind === "guest") {
      await guests.revoke(principal.id);
      revocations.publish({ kind: "guest", guestId: principal.id });
      return;
    }
    await logins.revoke(principal.tokenId);
    revocations.publish({ kind: "login", userId: principal.id, loginId: principal.tokenId });
  }

  /** Also called for unknown addresses, so that the answer takes the same time. */
  async #recordFailure(account: Account | undefined, right: boolean, address: string) {
    const reason =
      account === undefined ? "unknown_account" : right ? "account_disabled" : "wrong_password";
    const accountId = account?.id;
    await this.#options.failures.recordFailedSignIn({ reason, accountId, address });
  }

  async #spend(budget: string, policy: AttemptPolicy): Promise<void> {
    const wait = await this.#options.attempts.take(budget, policy);
    if (wait === undefined) return;
    const other = this.#options.sendsLinks
      ? "have a sign-in link sent"
      : "sign in from where you did before, or ask an administrator to enable your account";
    throw new AppError(
      "rate_limited",
      `Too many attempts to sign in. Please wait ${wait} s, or ${other}.`,
      { retryAfter: wait },
    );
  }

  /** Undefined when the account was disabled, or its password changed, meanwhile. */
  async #open(
    account: Account,
    passwordHash: string | undefined,
    remember: boolean,
  ): Promise<LoginResult | undefined> {
    const { clock, logins, tokens } = this.#options;
    const now = clock.now();
    const id = newId(now);
    const expiresAt = now + (remember ? LOGIN_LIFETIME : ACCESS_LIFETIME);
    if (!(await logins.open({ id, userId: account.id, passwordHash, expiresAt }))) {
      return undefined;
    }
    const token = await this.#access(account.id, id, expiresAt);
    const refreshToken = remember
      ? await tokens.sign({ kind: "refresh", subject: account.id, scope: id, expiresAt })
      : undefined;
    return { token, refreshToken, account };
  }

  #access(userId: string, loginId: string, loginExpiresAt: number): Promise<string> {
    const expiresAt = Math.min(this.#options.clock.now() + ACCESS_LIFETIME, loginExpiresAt);
    return this.#options.tokens.sign({
      kind: "access",
      subject: userId,
      scope: loginId,
      expiresAt,
    });
  }
}

function strangersBudget(name: string): string {
  return `login of strangers\u0000${name}`;
}

function wrongCredentials(): AppError {
  return new AppError("invalid_credentials", "The e-mail address or the password is not right.");
}
