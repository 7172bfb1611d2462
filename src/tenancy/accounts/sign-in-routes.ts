import { Type } from "@sinclair/typebox";
import { bearerOf } from "../../access/secrets.ts";
import { toTimestamp } from "../../base/clock.ts";
import { AppError } from "../../base/errors.ts";
import { requirePerson } from "../../rest/callers.ts";
import { exampleId } from "../../rest/example-values.ts";
import { refusePrefetch } from "../../rest/prefetch.ts";
import {
  acknowledge,
  acknowledged,
  defineRoute,
  type Reply,
  type Route,
} from "../../rest/route.ts";
import { areCookiesSecure, guestCookie, refreshCookie } from "../../rest/sign-in-cookies.ts";
import {
  accountRoleSchema,
  LOGIN_LIFETIME,
  loginResultSchema,
  presentLogin,
  type SignIn,
} from "./sign-in.ts";
import type { KeyRing } from "./tokens.ts";
import type { UserStore } from "./users-store.ts";

const SIGNED_OUT = "You are signed out.";

const NO_STORE = { "cache-control": "no-store" };

interface AuthOptions {
  signIn: Pick<SignIn, "login" | "refresh" | "logout">;
  users: Pick<UserStore, "find">;
  keys: Pick<KeyRing, "publicJwks">;
  /** The service's own address; a cookie is for HTTPS alone where that is its scheme. */
  publicUrl: () => string;
}

/**
 * POST /auth/login, GET /auth/refresh-token, POST /auth/logout, GET /auth/me, GET /auth/jwks.json.
 */
export function authRoutes(options: AuthOptions): Route[] {
  return [login(options), refreshToken(options), logout(options), me(options), jwks(options)];
}

function login({ signIn, publicUrl }: AuthOptions): Route {
  return defineRoute({
    method: "post",
    path: "/auth/login",
    id: "login",
    tag: "Auth",
    summary: "Sign in with e-mail address and password",
    description:
      "The access token lives 1 h. With `remember_me` a refresh token comes with it, good until 12 h after this login. A page of this origin asks for it as a cookie that its scripts cannot read, with `refresh_cookie`.",
    auth: [],
    body: {
      kind: "json",
      anyText: true,
      schema: Type.Object({
        email: Type.String({ examples: ["anna@example.org"] }),
        password: Type.String({ description: "The password" }),
        remember_me: Type.Optional(
          Type.Boolean({
            description: "Whether a refresh token is wanted too",
            default: false,
            examples: [true],
          }),
        ),
        refresh_cookie: Type.Optional(
          Type.Boolean({
            description:
              "With `remember_me`: the refresh token comes as the cookie `voice-refresh`, over HTTPS `__Secure-voice-refresh` (HttpOnly, SameSite=Strict), instead of in the body",
            default: false,
          }),
        ),
      }),
    },
    responses: {
      200: {
        description: "Signed in",
        schema: Type.Object({
          ...loginResultSchema.properties,
          refresh_token: Type.Optional(
            Type.String({
              description:
                "Bearer of GET /auth/refresh-token, until 12 h after this login; with `remember_me` only, and not with `refresh_cookie`",
            }),
          ),
        }),
      },
    },
    errors: ["invalid_credentials"],
    async handle({ body, address }) {
      const { email, password, remember_me: remember = false, refresh_cookie: isCookie } = body;
      const result = await signIn.login({ email, password, remember, address });
      const { refreshToken: refresh_token } = result;
      if (isCookie !== true || refresh_token === undefined) {
        return { status: 200, headers: NO_STORE, body: { ...presentLogin(result), refresh_token } };
      }
      const isSecure = areCookiesSecure(publicUrl());
      const cookie = refreshCookie.set(refresh_token, LOGIN_LIFETIME, isSecure);
      return {
        status: 200,
        headers: { ...NO_STORE, "set-cookie": cookie },
        body: presentLogin(result),
      };
    },
  });
}

function refreshToken({ signIn, publicUrl }: AuthOptions): Route {
  return defineRoute({
    method: "get",
    path: "/auth/refresh-token",
    id: "refreshToken",
    tag: "Auth",
    summary: "A fresh access token; the refresh token is the bearer, or in a page's cookie",
    description: "The refresh token stays the same, and good until 12 h after its login.",
    auth: ["refresh", "refresh_cookie"],
    responses: {
      200: { description: "A fresh access token", schema: Type.Object({ token: Type.String() }) },
    },
    errors: ["invalid_token"],
    async handle({ headers }) {
      refusePrefetch(headers);
      const token = bearerOf(headers) ?? refreshCookie.in(headers, areCookiesSecure(publicUrl()));
      if (token === undefined) {
        throw new AppError("unauthorized", "Send the refresh token as `Authorization: Bearer …`.");
      }
      return {
        status: 200,
        headers: { ...NO_STORE, vary: "Authorization, Cookie" },
        body: { token: await signIn.refresh(token) },
      };
    },
  });
}

function logout({ signIn, publicUrl }: AuthOptions): Route {
  return defineRoute({
    method: "post",
    path: "/auth/logout",
    id: "logout",
    tag: "Auth",
    summary: "End this login: its access and refresh tokens stop working at once",
    description:
      "Other logins of the account go on. A page's cookie with the refresh token is taken back too.",
    auth: ["bearer"],
    responses: { 200: acknowledged(SIGNED_OUT) },
    async handle({ principal, headers }) {
      const person = requirePerson(principal);
      await signIn.logout(person);
      const said = acknowledge(SIGNED_OUT);
      const isSecure = areCookiesSecure(publicUrl());
      // A guest who leaves may have an account in the same browser.
      const cookie = person.kind === "guest" ? guestCookie(person.sessionId) : refreshCookie;
      if (cookie.in(headers, isSecure) === undefined) return said;
      return { ...said, headers: { "set-cookie": cookie.end(isSecure) } };
    },
  });
}

const meSchema = Type.Union(
  [
    Type.Object({
      id: Type.String({ examples: [exampleId("user_id")] }),
      role: accountRoleSchema,
      email: Type.String(),
      name: Type.String({ examples: ["Anna Brown"] }),
      expires_at: Type.String({ examples: ["2026-01-31T10:30:00.000Z"] }),
    }),
    Type.Object({
      id: Type.String(),
      role: Type.Literal("guest"),
      display_name: Type.String(),
      session_id: Type.String(),
      expires_at: Type.String(),
    }),
  ],
  { $id: "Caller" },
);

function me({ users }: AuthOptions): Route {
  return defineRoute({
    method: "get",
    path: "/auth/me",
    id: "me",
    tag: "Auth",
    summary: "Who the token belongs to",
    auth: ["bearer"],
    responses: { 200: { description: "The caller", schema: meSchema } },
    async handle({ principal }): Promise<Reply> {
      const person = requirePerson(principal);
      const { id, role } = person;
      const expires_at = toTimestamp(person.expiresAt);
      if (person.kind === "guest") {
        const { displayName: display_name, sessionId: session_id } = person;
        return { status: 200, body: { id, role, display_name, session_id, expires_at } };
      }
      const user = await users.find(id);
      if (user === undefined) throw new AppError("invalid_token", "The account is gone.");
      const { email, name } = user;
      return { status: 200, body: { id, role, email, name, expires_at } };
    },
  });
}

function jwks({ keys }: AuthOptions): Route {
  return defineRoute({
    method: "get",
    path: "/auth/jwks.json",
    id: "jwks",
    tag: "Auth",
    summary: "Public keys that this service's tokens can be checked with (RFC 7517)",
    description: "For services that check tokens themselves.",
    auth: [],
    responses: {
      200: {
        description: "A JSON Web Key Set",
        schema: Type.Object({
          keys: Type.Array(
            Type.Object({
              kty: Type.String({ description: "Kind of key" }),
              crv: Type.String({ description: "Curve" }),
              x: Type.String({ description: "Public key, base64url" }),
              kid: Type.String({ description: "Id of the key, as in a token's header" }),
              alg: Type.String({ description: "Algorithm" }),
              use: Type.String({ description: "What it is for" }),
            }),
            { description: "The public keys that access tokens are signed with" },
          ),
        }),
      },
    },
    async handle() {
      return {
        status: 200,
        headers: { "cache-control": "public, max-age=300" },
        body: { keys: keys.publicJwks },
      };
    },
  });
}
