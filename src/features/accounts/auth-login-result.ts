import { type Static, Type } from "@sinclair/typebox";
import type { LoginResult } from "./sign-in.ts";

export const accountRoleSchema = Type.Union([
  Type.Literal("admin"),
  Type.Literal("participant"),
  Type.Literal("moderator"),
]);

export const loginResultSchema = Type.Object({
  token: Type.String({ description: "An access token" }),
  user: Type.Object({ id: Type.String(), email: Type.String(), role: accountRoleSchema }),
});

/** Whoever signed in, and the token to go on with. */
export function presentLogin({ token, account }: LoginResult): Static<typeof loginResultSchema> {
  const { id, email, role } = account;
  return { token, user: { id, email, role } };
}
