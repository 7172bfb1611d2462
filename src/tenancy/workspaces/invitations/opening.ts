import { type Static, Type } from "@sinclair/typebox";
import type { FailedSignInTrail } from "../../../access/audit-entry.ts";
import { secretHash } from "../../../access/secrets.ts";
import { AppError } from "../../../base/errors.ts";
import { newId } from "../../../base/ids.ts";
import { defineRoute, type Route } from "../../../rest/route.ts";
import { loginResultSchema, presentLogin, type SignIn } from "../../accounts/sign-in.ts";
import type { UserStore } from "../../accounts/users-store.ts";
import type { InvitationStore } from "./store.ts";

export interface OpenedInvitationOptions {
  store: Pick<InvitationStore, "opened">;
  users: Pick<UserStore, "findByEmail" | "insert" | "verifyAddress">;
  signIn: Pick<SignIn, "enter">;
  failures: FailedSignInTrail;
  /** Whether opening an invitation makes an account. */
  signsUp: boolean;
}

const openedSchema = Type.Object(
  {
    email: Type.String({ description: "Whom the invitation is for" }),
    login: Type.Optional(loginResultSchema),
  },
  { $id: "OpenedInvitation" },
);

/** POST /auth/open-invitation. */
export function openedInvitationRoutes(options: OpenedInvitationOptions): Route[] {
  const open = defineRoute({
    method: "post",
    path: "/auth/open-invitation",
    id: "openInvitation",
    tag: "Auth",
    summary: "Open a mailed invitation",
    description:
      "With the token of its letter, which shows that the mailbox is the caller's: the invitation then shows in GET /invitations of the account with that address. Where there is no such account and `INVITED_SIGN_UP` is `invited`, this makes one with the role participant and signs it in (`login`); where that is `off`, it is 403: an administrator makes accounts. Nobody is signed in to an account that exists.",
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
    responses: { 200: { description: "It is opened", schema: openedSchema } },
    errors: ["invalid_token", "forbidden"],
    async handle({ body, address }) {
      const opened = await openInvitation(options, body.token, address);
      return { status: 200, headers: { "cache-control": "no-store" }, body: opened };
    },
  });
  return [open];
}

async function openInvitation(
  { store, users, signIn, failures, signsUp }: OpenedInvitationOptions,
  token: string,
  address: string,
): Promise<Static<typeof openedSchema>> {
  const invitation = await store.opened(secretHash(token));
  const known = invitation && (await users.findByEmail(invitation.address));
  if (invitation === undefined || known?.disabled === true) {
    await failures.recordFailedSignIn({ reason: "bad_link", address });
    throw new AppError("invalid_token", "The invitation is unknown, withdrawn or over.");
  }
  const { id, address: email } = invitation;
  if (known !== undefined) {
    await users.verifyAddress(known.id);
    return { email };
  }
  if (!signsUp) {
    const message = `There is no account for ${email} yet. An administrator of this service makes it; the invitation stays meanwhile.`;
    throw new AppError("forbidden", message);
  }
  const user = { id: newId(), email, name: nameIn(email), role: "participant" } as const;
  const detail = { role: "participant", invitation_id: id };
  const actor = { kind: "system" } as const;
  const isMade = await users.insert(
    { ...user, passwordHash: null },
    { kind: "user_created", actor, subjectId: user.id, detail },
  );
  // Another press of the same button has made it.
  if (!isMade) return { email };
  await users.verifyAddress(user.id);
  return { email, login: presentLogin(await signIn.enter({ ...user, disabled: false }, address)) };
}

/** What somebody is called until they say it themselves: `anna.brown@example.org` is anna.brown. */
function nameIn(email: string): string {
  return email.split("@")[0] ?? "";
}
