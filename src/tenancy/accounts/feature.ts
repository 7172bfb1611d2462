import type { FailedSignInTrail } from "../../access/audit-entry.ts";
import type { Authenticator } from "../../access/authenticator.ts";
import type { TenancyContext } from "../context.ts";
import { AttemptStore } from "./attempts-store.ts";
import { FreshProof } from "./fresh-proof.ts";
import type { GuestRecords } from "./guest-records.ts";
import { LiveTickets, liveTicketRoutes } from "./live-tickets.ts";
import { TicketStore } from "./live-tickets-store.ts";
import { MagicLinks, magicLinkRoutes, signInAddress } from "./magic-links.ts";
import { MagicLinkStore } from "./magic-links-store.ts";
import type { Mailing } from "./mailing.ts";
import { OAuthSignIn } from "./oauth.ts";
import type { OAuthProvider } from "./oauth-providers.ts";
import { oauthRoutes } from "./oauth-routes.ts";
import { OAuthStore } from "./oauth-store.ts";
import { PasswordChanges, PasswordHasher, passwordRoutes } from "./passwords.ts";
import { PasswordStore } from "./passwords-store.ts";
import { SignIn } from "./sign-in.ts";
import { SignInAddressStore } from "./sign-in-addresses-store.ts";
import { authRoutes } from "./sign-in-routes.ts";
import { LoginStore } from "./sign-in-store.ts";
import { type KeyRing, Tokens } from "./tokens.ts";
import {
  type UserEditOptions,
  type UserOptions,
  userAccessRoutes,
  userEditRoutes,
  userRoutes,
} from "./users-routes.ts";
import { UserStore } from "./users-store.ts";

/** What accounts stand on besides the context. */
interface CreateAccountOptions {
  ring: KeyRing;
  authenticator: Authenticator;
  failures: FailedSignInTrail;
  /** Of the floor above: lists of users are told by workspace. */
  workspaces: UserOptions["workspaces"];
  /** Of the floor above: guests sign out here too. */
  guests: Pick<GuestRecords, "revoke">;
  mailing: Mailing;
  elevations: UserEditOptions["elevations"];
  notices: UserEditOptions["notices"];
  providers: readonly OAuthProvider[];
  /** Where clients reach this service, without a slash at the end. */
  publicUrl(): string;
  /** The page that takes a token; that of this service when absent. */
  signInUrl?: string | undefined;
  allowedOrigins: readonly string[];
  /** HMAC key of the digests of network addresses. */
  addressKey: Uint8Array;
}

/** People: who they are, and how they sign in. */
export function createAccounts(context: TenancyContext, options: CreateAccountOptions) {
  const { pool, clock, revocations, cursorKey, queues } = context;
  const { ring, failures, workspaces, guests, elevations, notices } = options;
  const { publicUrl, allowedOrigins } = options;
  const users = new UserStore(pool);
  const logins = new LoginStore(pool);
  const attempts = new AttemptStore(pool, clock);
  const places = new SignInAddressStore(pool, options.addressKey);
  const tokens = new Tokens(ring, clock);
  const passwords = new PasswordHasher();
  queues.add(passwords);
  const parts = { accounts: users, failures, attempts, clock };
  const sendsLinks = options.mailing.mail !== undefined;
  const proofs = { places, logins, guests, passwords, tokens };
  const signIn = new SignIn({ ...parts, ...proofs, revocations, sendsLinks });
  const magicLinks = createMagicLinks(context, options, { ...parts, signIn });
  const oauth = new OAuthSignIn({
    ...parts,
    providers: options.providers,
    store: new OAuthStore(pool),
    signIn,
    callbackUrl: (provider) => `${publicUrl()}/api/auth/oauth/${provider}/callback`,
  });
  const secrets = { store: new PasswordStore(pool), attempts, passwords };
  const passwordChanges = new PasswordChanges({ ...secrets, revocations });
  const proof = new FreshProof({ ...secrets, logins });
  const liveTickets = new LiveTickets(new TicketStore(pool), options.authenticator, clock);
  return {
    users,
    tokens,
    logins,
    attempts,
    passwords,
    passwordChanges,
    proof,
    signIn,
    liveTickets,
    routes: [
      ...authRoutes({ signIn, users, keys: ring, publicUrl }),
      ...liveTicketRoutes({ liveTickets }),
      ...magicLinkRoutes({ magicLinks }),
      ...oauthRoutes({ oauth, publicUrl, allowedOrigins }),
      ...passwordRoutes({ passwordChanges }),
      ...userRoutes({ users, workspaces, passwords, cursorKey }),
      ...userAccessRoutes({ users, signIn, revocations }),
      ...userEditRoutes({ users, revocations, elevations, notices }),
    ],
  };
}

type CreateMagicLinkOptions = Pick<
  ConstructorParameters<typeof MagicLinks>[0],
  "accounts" | "failures" | "attempts" | "signIn" | "clock"
>;

function createMagicLinks(
  { pool }: TenancyContext,
  { mailing, publicUrl, signInUrl }: CreateAccountOptions,
  parts: CreateMagicLinkOptions,
) {
  return new MagicLinks({
    ...parts,
    ...mailing,
    store: new MagicLinkStore(pool),
    signInUrl: (token, email) =>
      signInAddress(signInUrl ?? `${publicUrl()}/#/sign-in`, token, email),
  });
}
