import { Type } from "@sinclair/typebox";
import { acknowledge, acknowledgementSchema } from "../../rest/acknowledgement.ts";
import { defineRoute, type Route } from "../../rest/route.ts";
import { loginResultSchema, presentLogin } from "./auth-login-result.ts";
import type { MagicLinks } from "./magic-links.ts";

export interface MagicLinkPorts {
  magicLinks: Pick<MagicLinks, "request" | "redeem">;
}

/** POST /auth/request-magic-link, POST /auth/validate-magic-link. */
export function magicLinkRoutes({ magicLinks }: MagicLinkPorts): Route[] {
  const request = defineRoute({
    method: "post",
    path: "/auth/request-magic-link",
    id: "requestMagicLink",
    tag: "Auth",
    summary: "Have a sign-in link sent by mail",
    description:
      "The answer is the same whether or not there is an account with this address. A link works once, within 10 min. Five may be asked for at once for one address, then one every two minutes.",
    auth: [],
    body: {
      kind: "json",
      schema: Type.Object({
        email: Type.String({
          maxLength: 320,
          pattern: "^[^\\s@]+@[^\\s@]+$",
          examples: ["ada@example.org"],
        }),
      }),
    },
    responses: { 200: { description: "Asked for", schema: acknowledgementSchema } },
    async handle({ body, address }) {
      await magicLinks.request(body.email, address);
      return acknowledge("If there is an account with this address, a sign-in link is on its way.");
    },
  });
  const validate = defineRoute({
    method: "post",
    path: "/auth/validate-magic-link",
    id: "validateMagicLink",
    tag: "Auth",
    summary: "Sign in with the token of a link",
    auth: [],
    body: {
      kind: "json",
      schema: Type.Object({ token: Type.String({ minLength: 1, maxLength: 200 }) }),
    },
    responses: { 200: { description: "Signed in", schema: loginResultSchema } },
    errors: ["invalid_token"],
    async handle({ body }) {
      const result = await magicLinks.redeem(body.token);
      const headers = { "cache-control": "no-store" };
      return { status: 200, headers, body: presentLogin(result) };
    },
  });
  return [request, validate];
}
