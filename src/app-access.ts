import type { AppContext } from "./app-shared.ts";
import { CredentialAuthenticator } from "./auth/credential-authenticator.ts";
import { GuestEntry } from "./auth/guest-entry.ts";
import { LiveTickets } from "./auth/live-tickets.ts";
import { Pairing } from "./auth/pairing.ts";
import { PasswordHasher } from "./auth/password-hasher.ts";
import { ServiceKeys } from "./auth/service-keys.ts";
import { SignIn } from "./auth/sign-in.ts";
import { Tokens } from "./auth/tokens.ts";
import { AttemptStore } from "./store/attempts.ts";
import { PostgresAudit } from "./store/audit.ts";
import { GuestStore } from "./store/guests.ts";
import { LoginStore } from "./store/logins.ts";
import { PairingStore } from "./store/pairing.ts";
import { ServiceKeyStore } from "./store/service-keys.ts";
import { TicketStore } from "./store/tickets.ts";
import { UserStore } from "./store/users.ts";

export type Access = ReturnType<typeof createAccess>;

/** Who callers are, and what they may begin with. */
export function createAccess({ clock, stack, shared }: AppContext) {
  const { pool, keys, revocations } = shared;
  const tokens = new Tokens(keys.ring, clock);
  const guests = new GuestStore(pool);
  const logins = new LoginStore(pool);
  const users = new UserStore(pool);
  const attempts = new AttemptStore(pool, clock);
  const passwords = new PasswordHasher();
  const pairingStore = new PairingStore(pool);
  const serviceKeyBook = new ServiceKeyStore(pool);
  const authenticator = new CredentialAuthenticator({
    tokens,
    logins,
    guests,
    deviceKeys: pairingStore,
    serviceKeys: serviceKeyBook,
    revocations,
    clock,
  });
  stack.push("authenticator", () => authenticator.stop());
  return {
    revocations,
    audit: new PostgresAudit(pool),
    users,
    passwords,
    authenticator,
    signIn: new SignIn({
      accounts: users,
      logins,
      guests,
      attempts,
      passwords,
      tokens,
      revocations,
      clock,
    }),
    serviceKeyBook,
    serviceKeys: new ServiceKeys({ book: serviceKeyBook, revocations, clock }),
    guestEntry: new GuestEntry(guests, tokens, clock),
    liveTickets: new LiveTickets(new TicketStore(pool), authenticator, clock),
    pairing: new Pairing({ book: pairingStore, attempts, revocations, pepper: keys.pepper, clock }),
  };
}
