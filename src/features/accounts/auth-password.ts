import { Type } from "@sinclair/typebox";
import { acknowledge, acknowledgementSchema } from "../../rest/acknowledgement.ts";
import { requireUser } from "../../rest/callers.ts";
import { defineRoute, PEOPLE, type Route } from "../../rest/route.ts";
import type { PasswordChanges } from "./password-changes.ts";
import { PASSWORD_MAX_BYTES, PASSWORD_MIN_LENGTH } from "./password-hasher.ts";

export interface PasswordPorts {
  passwordChanges: Pick<PasswordChanges, "change">;
}

/** POST /auth/password. */
export function passwordRoutes({ passwordChanges }: PasswordPorts): Route[] {
  const change = defineRoute({
    method: "post",
    path: "/auth/password",
    id: "changePassword",
    tag: "Auth",
    summary: "Change one's own password",
    description:
      "Every other login of the account ends, with its open sockets. This one goes on until its access token expires: no refresh token outlives the change. A wrong current password is 401 with the code invalid_credentials.",
    auth: ["bearer"],
    roles: PEOPLE,
    body: {
      kind: "json",
      schema: Type.Object({
        current_password: Type.String({ minLength: 1, maxLength: PASSWORD_MAX_BYTES }),
        new_password: Type.String({
          minLength: PASSWORD_MIN_LENGTH,
          maxLength: PASSWORD_MAX_BYTES,
        }),
      }),
    },
    responses: { 200: { description: "Changed", schema: acknowledgementSchema } },
    errors: ["invalid_credentials", "conflict"],
    async handle({ principal, body }) {
      const { current_password: current, new_password: fresh } = body;
      await passwordChanges.change(requireUser(principal), current, fresh);
      return acknowledge("The password is changed. Other logins have ended.");
    },
  });
  return [change];
}
