import { Type } from "@sinclair/typebox";
import type { FailedSignInTrail } from "../../access/audit-entry.ts";
import { randomText, secretHash } from "../../access/secrets.ts";
import type { Background } from "../../base/background.ts";
import type { Clock } from "../../base/clock.ts";
import { AppError } from "../../base/errors.ts";
import { escapeHtml } from "../../base/html.ts";
import { acknowledge, acknowledged, defineRoute, type Route } from "../../rest/route.ts";
import { networkOf } from "../../wire/network.ts";
import type { AttemptPolicy, AttemptStore } from "./attempts-store.ts";
import type { MagicLinkStore } from "./magic-links-store.ts";
import type { Mail, MailMessage } from "./mail.ts";
import { comparableAddress } from "./mail-addresses.ts";
import { type LoginResult, loginResultSchema, presentLogin, type SignIn } from "./sign-in.ts";
import type { UserStore } from "./users-store.ts";

const ON_ITS_WAY = "If there is an account with this address, a sign-in link is on its way.";

/**
 * The address of a sign-in link. What it brings stands in the fragment, which browsers do not send, so
 * it reaches no log. The account's address is for the page, which asks before it signs anybody in.
 */
export function signInAddress(page: string, token: string, email: string): string {
  const mark = page.includes("#") ? "?" : "#";
  return `${page}${mark}token=${token}&email=${encodeURIComponent(email)}`;
}

function signInMessage(to: string, url: string): MailMessage {
  const lines = [
    `Open this link to sign in as ${to}. It works once, within 10 minutes:`,
    url,
    "If you did not ask for it, you need not do anything: without the link nobody gets in.",
  ];
  return {
    to,
    subject: "Your sign-in link",
    text: `${lines.join("\n\n")}\n`,
    html: lines
      .map((line) => `<p>${line === url ? `<a href="${escapeHtml(url)}">Sign in</a>` : line}</p>`)
      .join("\n"),
  };
}

const LIFETIME = 10 * 60_000;
/** 43 base-62 characters are 256 bits. */
const LENGTH = 43;
const FORM = /^[0-9A-Za-z]{43}$/;
/** Allows one caller five requests for one mailbox, then one every two minutes. */
const LETTERS: AttemptPolicy = { burst: 5, interval: 120_000 };
/**
 * Allows five letters to one mailbox, then one every five minutes, whoever asks for them: when it is
 * used up, the mailbox has a letter that works for five minutes more.
 */
const MAILBOX: AttemptPolicy = { burst: 5, interval: LIFETIME / 2 };
/** Allows one caller thirty requests, then four a minute. */
const REQUESTS: AttemptPolicy = { burst: 30, interval: 15_000 };

interface MagicLinkOptions {
  store: MagicLinkStore;
  accounts: Pick<UserStore, "findByEmail">;
  attempts: Pick<AttemptStore, "take" | "restore">;
  failures: FailedSignInTrail;
  signIn: Pick<SignIn, "enter">;
  /** Undefined when this installation sends no mail. */
  mail: Mail | undefined;
  background: Pick<Background, "start">;
  /** Returns the address of the page that takes the token, for this account. */
  signInUrl: (token: string, email: string) => string;
  clock: Clock;
}

/** Signs users in with a link sent by mail. */
export class MagicLinks {
  readonly #options: MagicLinkOptions;

  constructor(options: MagicLinkOptions) {
    this.#options = options;
  }

  /**
   * Requests a link. Resolves in the same way and time whether or not there is such an account; the
   * message is sent afterwards, unless others had so many sent to the mailbox that one which works is
   * there. Rejects with `rate_limited` after too many requests of this caller, or with `unavailable`
   * where no mail is configured.
   *
   * @param address the caller's address
   */
  async request(email: string, address: string): Promise<void> {
    const { attempts, background, mail } = this.#options;
    if (mail === undefined) {
      throw new AppError("unavailable", "This installation sends no mail. Sign in another way.");
    }
    await this.#spend(`mail-from\u0000${networkOf(address).network}`, REQUESTS);
    await this.#spend(ownBudget(email, address), LETTERS);
    if ((await attempts.take(mailboxBudget(email), MAILBOX)) !== undefined) return;
    background.start("Sending a sign-in link", () => this.#send(email, mail));
  }

  /**
   * Signs in with a link's token. Rejects with `invalid_token`; of several calls with one token
   * only one succeeds.
   *
   * @param address the caller's
   */
  async redeem(token: string, address: string): Promise<LoginResult> {
    const { attempts, store, clock, signIn } = this.#options;
    const account = FORM.test(token) ? await store.take(secretHash(token), clock.now()) : undefined;
    if (account === undefined) {
      await this.#options.failures.recordFailedSignIn({ reason: "bad_link", address });
      throw new AppError("invalid_token", "The link is unknown, used or expired.");
    }
    // The mailbox has no letter any more that works, so the next one is sent at once.
    await attempts.restore(mailboxBudget(account.email));
    await attempts.restore(ownBudget(account.email, address));
    return signIn.enter(account, address);
  }

  async #send(email: string, mail: Mail): Promise<void> {
    const { accounts, store, clock, signInUrl } = this.#options;
    const account = await accounts.findByEmail(email);
    if (account === undefined || account.disabled) return;
    const token = randomText(LENGTH);
    const expiresAt = clock.now() + LIFETIME;
    await store.put({ tokenHash: secretHash(token), userId: account.id, expiresAt });
    // To the stored address, which may have other cases than the requested one.
    await mail.send(signInMessage(account.email, signInUrl(token, account.email)));
  }

  async #spend(key: string, policy: AttemptPolicy): Promise<void> {
    const wait = await this.#options.attempts.take(key, policy);
    if (wait === undefined) return;
    throw new AppError("rate_limited", `Too many sign-in links. Please wait ${wait} s.`, {
      retryAfter: wait,
    });
  }
}

function mailboxBudget(email: string): string {
  return `mail-to\u0000${comparableAddress(email)}`;
}

function ownBudget(email: string, address: string): string {
  return `${mailboxBudget(email)}\u0000${networkOf(address).network}`;
}

interface MagicLinkRouteOptions {
  magicLinks: Pick<MagicLinks, "request" | "redeem">;
}

/** POST /auth/request-magic-link, POST /auth/validate-magic-link. */
export function magicLinkRoutes({ magicLinks }: MagicLinkRouteOptions): Route[] {
  const request = defineRoute({
    method: "post",
    path: "/auth/request-magic-link",
    id: "requestMagicLink",
    tag: "Auth",
    summary: "Have a sign-in link sent by mail",
    description:
      "The answer is the same whether or not there is an account with this address. A link works once, within 10 min. A caller may ask for five at once for one address, then for one every two minutes. One address is sent five at once, then one every five minutes, so that a link that works is there.",
    auth: [],
    body: {
      kind: "json",
      anyText: true,
      schema: Type.Object({ email: Type.String({ examples: ["anna@example.org"] }) }),
    },
    responses: { 200: acknowledged(ON_ITS_WAY) },
    async handle({ body, address }) {
      await magicLinks.request(body.email, address);
      return acknowledge(ON_ITS_WAY);
    },
  });
  const validate = defineRoute({
    method: "post",
    path: "/auth/validate-magic-link",
    id: "validateMagicLink",
    tag: "Auth",
    summary: "Sign in with the token of a link",
    description:
      "The token that the mailed link carries. It works once, within 10 min; an unknown, used or expired one is 401 `invalid_token`. No refresh token comes with it.",
    auth: [],
    body: {
      kind: "json",
      schema: Type.Object({
        token: Type.String({
          minLength: 1,
          maxLength: 200,
          examples: ["3q2v7wXk0aF5mRzTnLcYbH8uJ1pQeWd4"],
        }),
      }),
    },
    responses: { 200: { description: "Signed in", schema: loginResultSchema } },
    errors: ["invalid_token"],
    async handle({ body, address }) {
      const result = await magicLinks.redeem(body.token, address);
      const headers = { "cache-control": "no-store" };
      return { status: 200, headers, body: presentLogin(result) };
    },
  });
  return [request, validate];
}
