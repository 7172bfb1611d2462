import { createHash } from "node:crypto";
import type { FailedSignInTrail } from "../../access/audit-entry.ts";
import { randomText, secretHash } from "../../access/secrets.ts";
import type { Clock } from "../../base/clock.ts";
import { AppError } from "../../base/errors.ts";
import { newId } from "../../base/ids.ts";
import { cutToName } from "../../wire/names.ts";
import { networkOf } from "../../wire/network.ts";
import type { AttemptPolicy, AttemptStore } from "./attempts-store.ts";
import { comparableAddress, isNewAddress } from "./mail-addresses.ts";
import type { OAuthProfile, OAuthProvider, OAuthSecrets } from "./oauth-providers.ts";
import type { OAuthStore } from "./oauth-store.ts";
import type { LoginResult, SignIn } from "./sign-in.ts";
import type { Account, UserStore } from "./users-store.ts";

/** Time that a browser may take at the provider, milliseconds. */
export const OAUTH_LIFETIME = 10 * 60_000;
/** 43 base-62 characters are 256 bits. */
const LENGTH = 43;
const FORM = /^[0-9A-Za-z]{43}$/;
/** Allows sixty requests from one network of addresses, then one a second. */
const REQUESTS: AttemptPolicy = { burst: 60, interval: 1_000 };

interface OAuthOptions {
  providers: readonly OAuthProvider[];
  store: OAuthStore;
  accounts: Pick<UserStore, "findByEmail">;
  signIn: Pick<SignIn, "enter">;
  attempts: AttemptStore;
  failures: FailedSignInTrail;
  /** Returns the address to which the provider sends the browser back. */
  callbackUrl: (provider: string) => string;
  clock: Clock;
}

interface BegunSignIn {
  location: URL;
  /** A secret for the browser's cookie; an answer without it is refused. */
  browserSecret: string;
}

interface OAuthAnswer {
  provider: OAuthProvider;
  state: string | undefined;
  browserSecret: string | undefined;
  /** The query with which the provider sent the browser back. */
  query: URLSearchParams;
  /** The caller's. */
  address: string;
}

/** An answer that belongs to one of our requests. */
interface AcceptedAnswer {
  redirect: string | undefined;
  complete(): Promise<LoginResult>;
}

/**
 * Signs users in at another provider, with authorisation code, PKCE, state and nonce (RFC 9700).
 */
export class OAuthSignIn {
  readonly #options: OAuthOptions;

  constructor(options: OAuthOptions) {
    this.#options = options;
  }

  get providers(): readonly OAuthProvider[] {
    return this.#options.providers;
  }

  /**
   * Begins a sign-in. Rejects with `rate_limited`, or `unavailable` when the provider cannot be
   * reached.
   */
  async begin(
    provider: OAuthProvider,
    browser: { secret: string | undefined; address: string },
    redirect: string | undefined,
  ): Promise<BegunSignIn> {
    const { attempts, store, callbackUrl, clock } = this.#options;
    const { network } = networkOf(browser.address);
    const wait = await attempts.take(`oauth-from\u0000${network}`, REQUESTS);
    if (wait !== undefined) {
      throw new AppError("rate_limited", "Too many sign-ins begun.", { retryAfter: wait });
    }
    const state = randomText(LENGTH);
    // A browser keeps its secret, so that two of its tabs can sign in at once.
    const known = browser.secret;
    const browserSecret = known !== undefined && FORM.test(known) ? known : randomText(LENGTH);
    const secrets = deriveSecrets(state, browserSecret);
    const location = await provider.authorizationUrl(callbackUrl(provider.id), secrets);
    await store.put({
      stateHash: secretHash(state),
      browserHash: secretHash(browserSecret),
      provider: provider.id,
      redirect,
      expiresAt: clock.now() + OAUTH_LIFETIME,
    });
    return { location, browserSecret };
  }

  /**
   * Accepts a provider's answer. Rejects with `bad_request` when it belongs to no request of this
   * browser.
   */
  async accept(answer: OAuthAnswer): Promise<AcceptedAnswer> {
    const { store, clock } = this.#options;
    const { provider, state = "", browserSecret = "" } = answer;
    const request =
      FORM.test(state) && FORM.test(browserSecret)
        ? await store.take(
            {
              stateHash: secretHash(state),
              browserHash: secretHash(browserSecret),
              provider: provider.id,
            },
            clock.now(),
          )
        : undefined;
    if (request === undefined) {
      throw new AppError(
        "bad_request",
        "This sign-in was not begun in this browser, was used already, or took too long. Please start again.",
      );
    }
    const secrets = deriveSecrets(state, browserSecret);
    return {
      redirect: request.redirect,
      complete: () => this.#recorded(answer, this.#complete(answer, secrets)),
    };
  }

  /**
   * Counts the failure when the sign-in was refused, but not when the provider was unavailable.
   */
  async #recorded(answer: OAuthAnswer, work: Promise<LoginResult>): Promise<LoginResult> {
    try {
      return await work;
    } catch (error) {
      if (error instanceof AppError && error.status < 500) {
        const { provider, address } = answer;
        const failure = { reason: error.code, provider: provider.id, address };
        await this.#options.failures.recordFailedSignIn(failure);
      }
      throw error;
    }
  }

  /** Rejects with `invalid_credentials`, `forbidden` or `unavailable`. */
  async #complete(
    { provider, query, address }: OAuthAnswer,
    secrets: OAuthSecrets,
  ): Promise<LoginResult> {
    const url = new URL(this.#options.callbackUrl(provider.id));
    url.search = query.toString();
    const profile = await provider.exchange(url, secrets);
    const account = await this.#recognise(provider, profile);
    if (account.disabled) throw new AppError("forbidden", "This account is disabled.");
    return this.#options.signIn.enter(account, address);
  }

  async #recognise(provider: OAuthProvider, profile: OAuthProfile): Promise<Account> {
    const { accounts, store } = this.#options;
    const { subject, email } = profile;
    const linked = await store.findLinked(provider.id, subject);
    if (linked !== undefined) return linked;
    // An address that the provider does not vouch for could be anybody's.
    if (email === undefined || !profile.emailVerified) {
      throw new AppError("forbidden", `${provider.name} has not verified your e-mail address.`);
    }
    if (!isNewAddress(email)) {
      throw new AppError("forbidden", "Only an address of ASCII letters is known by itself here.");
    }
    const known = await accounts.findByEmail(email);
    if (known !== undefined) {
      // Whoever runs the provider, or a mailbox there, would otherwise administer this service.
      if (known.role === "admin") {
        throw new AppError(
          "forbidden",
          "An administrator signs in by password or by a mailed link, not by an address alone.",
        );
      }
      if (!known.disabled) await store.link(provider.id, subject, known.id);
      return known;
    }
    const created = provider.createUsers
      ? await this.#create(provider, subject, email, profile.name)
      : undefined;
    if (created !== undefined) return created;
    throw new AppError("forbidden", "There is no account with this address. Ask an administrator.");
  }

  #create(
    provider: OAuthProvider,
    subject: string,
    email: string,
    name: string,
  ): Promise<Account | undefined> {
    const id = newId(this.#options.clock.now());
    const user = {
      id,
      email: comparableAddress(email),
      name: cutToName(name, 200),
    };
    return this.#options.store.createLinked(provider.id, subject, user);
  }
}

/**
 * Derives nonce and PKCE verifier from the state and the browser's secret. The provider sees only
 * the state, and neither value has to be stored.
 */
function deriveSecrets(state: string, browserSecret: string): OAuthSecrets {
  const derive = (purpose: string) =>
    createHash("sha256")
      .update(`${purpose}\u0000${browserSecret}\u0000${state}`)
      .digest("base64url");
  return { state, nonce: derive("nonce"), codeVerifier: derive("code-verifier") };
}
