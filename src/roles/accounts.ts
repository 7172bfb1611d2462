import { Background } from "../base/background.ts";
import type { Log } from "../base/log.ts";
import { AttemptStore } from "../features/accounts/attempts-store.ts";
import { CredentialAuthenticator } from "../features/accounts/credential-authenticator.ts";
import { GuestEntry } from "../features/accounts/guests.ts";
import { GuestStore } from "../features/accounts/guests-store.ts";
import { LiveTickets } from "../features/accounts/live-tickets.ts";
import { TicketStore } from "../features/accounts/live-tickets-store.ts";
import { MagicLinks, signInAddress } from "../features/accounts/magic-links.ts";
import { MagicLinkStore } from "../features/accounts/magic-links-store.ts";
import { FolderMail, SmtpMail } from "../features/accounts/mail.ts";
import { OAuthSignIn } from "../features/accounts/oauth.ts";
import { GithubProvider, OidcProvider } from "../features/accounts/oauth-providers.ts";
import { parseOAuthProviders } from "../features/accounts/oauth-settings.ts";
import { OAuthStore } from "../features/accounts/oauth-store.ts";
import { PasswordChanges, PasswordHasher } from "../features/accounts/passwords.ts";
import { PasswordStore } from "../features/accounts/passwords-store.ts";
import { SignIn } from "../features/accounts/sign-in.ts";
import { LoginStore } from "../features/accounts/sign-in-store.ts";
import { Tokens } from "../features/accounts/tokens.ts";
import { UserStore } from "../features/accounts/users-store.ts";
import { AuditStore } from "../features/audit/audit-store.ts";
import { Pairing } from "../features/devices/pairing.ts";
import { PairingStore } from "../features/devices/pairing-store.ts";
import { ServiceKeys } from "../features/workspaces/service-keys.ts";
import { ServiceKeyStore } from "../features/workspaces/service-keys-store.ts";
import type { WorkspaceStore } from "../features/workspaces/store.ts";
import type { Config } from "./config.ts";
import type { ApiOptions } from "./routes.ts";
import type { AppContext } from "./shared.ts";

export type Access = ReturnType<typeof createAccess>;

/** Creates authentication and the ways to sign in. */
export function createAccess(context: AppContext, publicUrl: () => string) {
  const { clock, shared, queues } = context;
  const { pool, keys, revocations } = shared;
  const audit = new AuditStore(pool);
  const tokens = new Tokens(keys.ring, clock);
  const guests = new GuestStore(pool);
  const logins = new LoginStore(pool);
  const users = new UserStore(pool);
  const attempts = new AttemptStore(pool, clock);
  const passwords = new PasswordHasher();
  queues.add(passwords);
  const pairingStore = new PairingStore(pool);
  const authenticator = createAuthenticator(context);
  const serviceKeyBook = new ServiceKeyStore(pool);
  const signIn = new SignIn({
    accounts: users,
    logins,
    guests,
    audit,
    attempts,
    passwords,
    tokens,
    revocations,
    clock,
  });
  return {
    revocations,
    audit,
    users,
    passwords,
    authenticator,
    signIn,
    passwordChanges: new PasswordChanges({
      store: new PasswordStore(pool),
      attempts,
      passwords,
      revocations,
    }),
    oauth: createOAuth(context, { users, attempts, signIn }, publicUrl),
    magicLinks: createMagicLinks(context, { users, attempts, signIn }, publicUrl),
    serviceKeyBook,
    serviceKeys: new ServiceKeys({ store: serviceKeyBook, revocations, clock }),
    guestEntry: new GuestEntry(guests, tokens, clock),
    liveTickets: new LiveTickets(new TicketStore(pool), authenticator, clock),
    pairing: new Pairing({
      store: pairingStore,
      attempts,
      revocations,
      pepper: keys.pepper,
      clock,
    }),
  };
}

/** Creates an authenticator; each server of a process has a separate one. */
export function createAuthenticator({ clock, stack, shared }: AppContext): CredentialAuthenticator {
  const { pool, keys, revocations } = shared;
  const authenticator = new CredentialAuthenticator({
    tokens: new Tokens(keys.ring, clock),
    logins: new LoginStore(pool),
    guests: new GuestStore(pool),
    deviceKeys: new PairingStore(pool),
    serviceKeys: new ServiceKeyStore(pool),
    revocations,
    clock,
  });
  stack.push("authenticator", () => authenticator.stop());
  return authenticator;
}

/** Dependencies of the routes with the tags Auth and ApiKey. */
export function createIdentityPorts(
  { config, shared }: AppContext,
  access: Access,
  workspaces: WorkspaceStore,
  publicUrl: () => string,
): Pick<ApiOptions, "auth" | "serviceKeys"> {
  const { serviceKeys, serviceKeyBook } = access;
  const { ring, cursorKey } = shared.keys;
  const { allowedOrigins } = config;
  return {
    auth: { ...access, keys: ring, publicUrl, allowedOrigins },
    serviceKeys: { serviceKeys, serviceKeyBook, workspaces, cursorKey },
  };
}

function createMagicLinks(
  { config, clock, log, stack, shared, queues }: AppContext,
  parts: { users: UserStore; attempts: AttemptStore; signIn: SignIn },
  publicUrl: () => string,
): MagicLinks {
  const background = new Background({ concurrency: 4, waiting: 200, timeoutMs: 30_000, log });
  queues.add(background);
  const mail = openMail(config, log);
  stack.push("mail", async () => {
    await background.stop();
    if (mail instanceof SmtpMail) mail.close();
  });
  return new MagicLinks({
    store: new MagicLinkStore(shared.pool),
    accounts: parts.users,
    attempts: parts.attempts,
    audit: new AuditStore(shared.pool),
    signIn: parts.signIn,
    mail,
    background,
    signInUrl: (token) => signInAddress(config.signInUrl ?? `${publicUrl()}/#/sign-in`, token),
    clock,
  });
}

function createOAuth(
  { config, clock, shared }: AppContext,
  parts: { users: UserStore; attempts: AttemptStore; signIn: SignIn },
  publicUrl: () => string,
): OAuthSignIn {
  const providers = parseOAuthProviders(config.oauthProviders).map((settings) =>
    settings.kind === "github" ? new GithubProvider(settings) : new OidcProvider(settings),
  );
  return new OAuthSignIn({
    providers,
    store: new OAuthStore(shared.pool),
    accounts: parts.users,
    signIn: parts.signIn,
    attempts: parts.attempts,
    audit: new AuditStore(shared.pool),
    callbackUrl: (provider) => `${publicUrl()}/api/auth/oauth/${provider}/callback`,
    clock,
  });
}

function openMail(config: Config, log: Log): SmtpMail | FolderMail | undefined {
  const { smtpUrl, mailFolder, mailFrom } = config;
  if (smtpUrl !== undefined) return new SmtpMail(smtpUrl, mailFrom);
  return mailFolder === undefined ? undefined : new FolderMail(mailFolder, mailFrom, log);
}
