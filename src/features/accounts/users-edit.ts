import { Type } from "@sinclair/typebox";
import { actorOf } from "../../access/audit-trail.ts";
import type { UserPrincipal } from "../../access/principal.ts";
import type { RevocationFeed } from "../../access/revocation-feed.ts";
import { AppError } from "../../base/errors.ts";
import { requireUser } from "../../rest/callers.ts";
import { defineRoute, PEOPLE, type Route } from "../../rest/route.ts";
import { accountRoleSchema } from "./auth-login-result.ts";
import { presentUser, requireKnownUser, userSchema } from "./users.ts";
import type { UserDirectory, UserRecord } from "./users-directory.ts";

export interface UserEditPorts {
  users: Pick<UserDirectory, "find" | "rename" | "setRole">;
  revocations: Pick<RevocationFeed, "publish">;
}

/** PATCH /users/{id}. */
export function userEditRoutes({ users, revocations }: UserEditPorts): Route[] {
  const edit = defineRoute({
    method: "patch",
    path: "/users/{id}",
    id: "editUser",
    tag: "Admin",
    summary: "Change a user's name or role",
    description:
      "An admin changes anybody's; everybody else only the own name. Another role holds at once, also for tokens given out before. The last admin stays one.",
    auth: ["bearer"],
    roles: PEOPLE,
    params: Type.Object({ id: Type.String() }),
    body: {
      kind: "json",
      schema: Type.Object({
        name: Type.Optional(Type.String({ maxLength: 200 })),
        role: Type.Optional(accountRoleSchema),
      }),
    },
    responses: { 200: { description: "The user as it stands", schema: userSchema } },
    errors: ["conflict"],
    async resolve({ principal, params }) {
      const caller = requireUser(principal);
      if (caller.role !== "admin" && caller.id !== params.id) {
        throw new AppError("forbidden", "Only an admin changes other users.");
      }
      return requireKnownUser(users, params.id);
    },
    async handle({ principal, body }, user: UserRecord) {
      const { name, role } = body;
      const caller = requireUser(principal);
      if (name === undefined && role === undefined) {
        throw new AppError("invalid_body", "Send `name`, `role`, or both.");
      }
      if (role !== undefined) {
        if (caller.role !== "admin") {
          throw new AppError("forbidden", "Only an admin changes roles.");
        }
        await setRole(users, caller, user, role);
        revocations.publish({ kind: "user", userId: user.id });
      }
      if (name !== undefined) await users.rename(user.id, name.trim());
      return { status: 200, body: presentUser(await requireKnownUser(users, user.id)) };
    },
  });
  return [edit];
}

async function setRole(
  users: UserEditPorts["users"],
  caller: UserPrincipal,
  user: UserRecord,
  role: UserRecord["role"],
): Promise<void> {
  const outcome = await users.setRole(user.id, role, {
    kind: "user_role_changed",
    actor: actorOf(caller),
    subjectId: user.id,
    detail: { from: user.role, to: role },
  });
  if (outcome === "unknown") throw new AppError("not_found", "There is no user with this id.");
  if (outcome === "last_admin") {
    throw new AppError("conflict", "There must be at least one active administrator.");
  }
}
