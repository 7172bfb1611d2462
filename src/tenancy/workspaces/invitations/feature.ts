import type { AttemptStore } from "../../accounts/attempts-store.ts";
import type { Mailing } from "../../accounts/mailing.ts";
import type { TenancyContext } from "../../context.ts";
import { Invitations } from "./invitations.ts";
import { InvitationLetterStore } from "./letters-store.ts";
import { type OpenedInvitationOptions, openedInvitationRoutes } from "./opening.ts";
import { ownInvitationRoutes } from "./routes.ts";
import { InvitationStore } from "./store.ts";

interface CreateInvitationOptions {
  attempts: AttemptStore;
  mailing: Mailing;
  /** Where clients reach this service, without a slash at the end. */
  publicUrl(): string;
  users: OpenedInvitationOptions["users"];
  signIn: OpenedInvitationOptions["signIn"];
  failures: OpenedInvitationOptions["failures"];
  /** Whether opening an invitation makes an account. */
  signsUp: boolean;
}

/** Invitations to workspaces and sessions. */
export function createInvitations(
  { pool, clock, cursorKey, others }: TenancyContext,
  { attempts, mailing, publicUrl, ...accounts }: CreateInvitationOptions,
) {
  const store = new InvitationStore(pool, others);
  const letters = new InvitationLetterStore(pool);
  const invitations = new Invitations({
    ...{ store, letters, attempts, mailing, publicUrl, clock },
    signsUp: accounts.signsUp,
  });
  return {
    invitations,
    invitationBook: store,
    routes: [
      ...ownInvitationRoutes({ store, cursorKey }),
      ...openedInvitationRoutes({ store, ...accounts }),
    ],
  };
}
