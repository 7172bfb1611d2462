import { Type } from "@sinclair/typebox";
import { AppError } from "../../base/errors.ts";
import { requireUser } from "../../rest/callers.ts";
import { defineRoute, PEOPLE, type Route } from "../../rest/route.ts";

/** What the erasure of an account did so far; sessions that were left follow by themselves. */
export interface AccountErasure {
  sessionsDeleted: number;
  sessionsLeft: number;
  devicesUnpaired: number;
}

/**
 * Port: erases a person. The account ends at once and can never be used again;
 * the sessions that it owns are deleted, as many as fit into the call now and
 * the rest soon after. `last_admin`, and nothing is done, when nobody could
 * administer the service any more; undefined when there is no such account.
 */
export interface AccountEraser {
  erase(userId: string): Promise<AccountErasure | "last_admin" | undefined>;
}

export interface UserErasePorts {
  eraser: AccountEraser;
}

const answer = Type.Object({
  success: Type.Literal(true),
  message: Type.String(),
  sessions_deleted: Type.Integer(),
  sessions_left: Type.Integer({ description: "Deleted soon after, without another call" }),
  devices_unpaired: Type.Integer(),
});

/** DELETE /users/me. */
export function userEraseRoutes({ eraser }: UserErasePorts): Route[] {
  const erase = defineRoute({
    method: "delete",
    path: "/users/me",
    id: "eraseAccount",
    tag: "Admin",
    summary: "Erase the caller's own account, for good",
    description:
      "Ends every login, unpairs the devices, removes name and address, and deletes every session that the account owns. In sessions of other people the claimed voices lose the name. It cannot be undone.",
    auth: ["bearer"],
    roles: PEOPLE,
    responses: { 200: { description: "What was done", schema: answer } },
    errors: ["conflict"],
    async handle({ principal }) {
      const done = await eraser.erase(requireUser(principal).id);
      if (done === undefined) throw new AppError("invalid_token", "This account is gone already.");
      if (done === "last_admin") {
        throw new AppError(
          "conflict",
          "You are the only administrator. Make another one first, or nobody could run the service.",
        );
      }
      return {
        status: 200,
        body: {
          success: true,
          message: "The account is erased.",
          sessions_deleted: done.sessionsDeleted,
          sessions_left: done.sessionsLeft,
          devices_unpaired: done.devicesUnpaired,
        },
      };
    },
  });
  return [erase];
}
