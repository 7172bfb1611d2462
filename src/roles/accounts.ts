import type { Log } from "../base/log.ts";
import type { Stack } from "../base/stack.ts";
import type { FeatureContext } from "../conversations/context.ts";
import { GuestStore } from "../conversations/guests/store.ts";
import { CredentialAuthenticator } from "../tenancy/accounts/credential-authenticator.ts";
import { FolderMail, type Mail, SmtpMail } from "../tenancy/accounts/mail.ts";
import {
  GithubProvider,
  type OAuthProvider,
  OidcProvider,
} from "../tenancy/accounts/oauth-providers.ts";
import { parseOAuthProviders } from "../tenancy/accounts/oauth-settings.ts";
import { LoginStore } from "../tenancy/accounts/sign-in-store.ts";
import { type KeyRing, Tokens } from "../tenancy/accounts/tokens.ts";
import { PairingStore } from "../tenancy/devices/pairing-store.ts";
import { ServiceKeyStore } from "../tenancy/workspaces/service-keys-store.ts";
import type { Config } from "./config.ts";

/** Checks credentials, whatever feature gave them out; each door of a process has one of its own. */
export function createAuthenticator(
  { pool, clock, revocations, stack }: FeatureContext,
  ring: KeyRing,
): CredentialAuthenticator {
  const authenticator = new CredentialAuthenticator({
    tokens: new Tokens(ring, clock),
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

export function createOAuthProviders({ oauthProviders }: Config): OAuthProvider[] {
  return parseOAuthProviders(oauthProviders).map((settings) =>
    settings.kind === "github" ? new GithubProvider(settings) : new OidcProvider(settings),
  );
}

/** Undefined when this installation sends no mail. */
export function openMail(config: Config, log: Log, stack: Stack): Mail | undefined {
  const { smtpUrl, smtpNeedsTls, mailFolder, mailFrom } = config;
  if (smtpUrl !== undefined) {
    const mail = new SmtpMail(smtpUrl, mailFrom, { requireTLS: smtpNeedsTls });
    stack.push("mail", () => mail.close());
    return mail;
  }
  return mailFolder === undefined ? undefined : new FolderMail(mailFolder, mailFrom, log);
}
