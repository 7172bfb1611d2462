import { Type } from "@sinclair/typebox";
import { AppError, shown, toAppError } from "../../base/errors.ts";
import { pageSchema } from "../../rest/page.ts";
import { defineRoute, type Reply, type Route } from "../../rest/route.ts";
import { OAUTH_LIFETIME, type OAuthSignIn } from "./oauth.ts";
import type { OAuthProvider } from "./oauth-providers.ts";
import { type LoginResult, loginResultSchema, presentLogin } from "./sign-in.ts";

const NO_STORE = { "cache-control": "no-store" };

interface OAuthRouteOptions {
  oauth: Pick<OAuthSignIn, "providers" | "begin" | "accept">;
  /** Returns the public address of this service, without a slash at the end. */
  publicUrl: () => string;
  /** Other origins to whose pages a sign-in may return. */
  allowedOrigins: readonly string[];
}

/** GET /auth/oauth/providers, /auth/oauth/{provider}/authorize and /callback. */
export function oauthRoutes(options: OAuthRouteOptions): Route[] {
  return [listProviders(options), authorize(options), callback(options)];
}

const providerSchema = Type.Object(
  {
    id: Type.String({ minLength: 1, description: "Its name in addresses", examples: ["google"] }),
    name: Type.String({ examples: ["Google"] }),
    authorize_url: Type.String({
      description: "Where to send the browser",
      examples: ["https://voice.example.org/api/auth/oauth/google/authorize"],
    }),
  },
  { $id: "OAuthProvider" },
);

function listProviders({ oauth, publicUrl }: OAuthRouteOptions): Route {
  return defineRoute({
    method: "get",
    path: "/auth/oauth/providers",
    id: "listOAuthProviders",
    tag: "Auth",
    summary: "Identity providers that one can sign in with",
    auth: [],
    responses: { 200: { description: "All of them", schema: pageSchema(providerSchema) } },
    async handle() {
      const items = oauth.providers.map(({ id, name }) => ({
        id,
        name,
        authorize_url: `${publicUrl()}/api/auth/oauth/${id}/authorize`,
      }));
      return { status: 200, body: { items, next_cursor: null } };
    },
  });
}

const providerParams = Type.Object({
  provider: Type.String({
    maxLength: 64,
    description: "`id` of a provider of GET /auth/oauth/providers",
    examples: ["google"],
  }),
});

async function requireProvider(
  oauth: OAuthRouteOptions["oauth"],
  id: string,
): Promise<OAuthProvider> {
  const provider = oauth.providers.find((each) => each.id === id);
  if (provider === undefined)
    throw new AppError(
      "not_found",
      `There is no identity provider ${shown(id)} here; GET /auth/oauth/providers lists them.`,
    );
  return provider;
}

function isSecure(publicUrl: () => string): boolean {
  return publicUrl().startsWith("https://");
}

function authorize(options: OAuthRouteOptions): Route {
  const { oauth, publicUrl } = options;
  return defineRoute({
    method: "get",
    path: "/auth/oauth/{provider}/authorize",
    id: "authorizeWithProvider",
    tag: "Auth",
    summary: "Send the browser to an identity provider",
    description:
      "For a browser to open: answers with a redirect and a cookie that binds the sign-in to this browser for 10 min. With `redirect`, a page of this service or of an allowed origin, the browser ends up there with `#token=…` or `#error=…`.",
    auth: [],
    params: providerParams,
    query: Type.Object({
      redirect: Type.Optional(
        Type.String({
          description:
            "Where the browser goes in the end: a path of this service's page, or an allowed origin",
          maxLength: 2_000,
          examples: ["/"],
        }),
      ),
    }),
    responses: { 302: { description: "On to the provider" } },
    resolve: ({ params }) => requireProvider(oauth, params.provider),
    async handle({ query, headers, address }, provider: OAuthProvider) {
      const redirect = query.redirect === undefined ? undefined : allowed(options, query.redirect);
      const secure = isSecure(publicUrl);
      const browser = { secret: browserSecretOf(headers, secure), address };
      const { location, browserSecret } = await oauth.begin(provider, browser, redirect);
      return {
        status: 302,
        headers: {
          ...NO_STORE,
          location: location.href,
          "set-cookie": browserCookie(browserSecret, secure),
        },
      };
    },
  });
}

/**
 * The page's address without its fragment. Refuses origins other than our own and the allowed ones.
 */
function allowed({ publicUrl, allowedOrigins }: OAuthRouteOptions, text: string): string {
  const own = new URL(publicUrl());
  const url = URL.parse(text, own.href);
  const origins = [own.origin, ...allowedOrigins.map((origin) => origin.toLowerCase())];
  if (url === null || !origins.includes(url.origin) || url.username !== "" || url.password !== "") {
    throw new AppError(
      "invalid_parameter",
      "`redirect` must be a page of this service or of an origin that is allowed here.",
    );
  }
  url.hash = "";
  return url.href;
}

const answerQuery = Type.Object({
  state: Type.Optional(
    Type.String({ description: "As it was given to the provider", maxLength: 200 }),
  ),
  code: Type.Optional(
    Type.String({ description: "The provider's code, good once", maxLength: 4_000 }),
  ),
  error: Type.Optional(
    Type.String({ description: "What the provider refused with", maxLength: 200 }),
  ),
  error_description: Type.Optional(
    Type.String({ description: "The provider's own words", maxLength: 2_000 }),
  ),
  iss: Type.Optional(Type.String({ description: "The provider's issuer", maxLength: 2_000 })),
});

function callback({ oauth, publicUrl }: OAuthRouteOptions): Route {
  return defineRoute({
    method: "get",
    path: "/auth/oauth/{provider}/callback",
    id: "completeWithProvider",
    tag: "Auth",
    summary: "Where the provider sends the browser back to",
    description:
      "Exchanges the code and signs in whoever the provider vouches for: known by an earlier sign-in with this provider, or by a verified e-mail address. Nobody is remembered: no refresh token comes with it.",
    auth: [],
    params: providerParams,
    query: answerQuery,
    responses: {
      200: { description: "Signed in", schema: loginResultSchema },
      302: { description: "Back to the page that was given to authorize" },
    },
    errors: ["bad_request", "invalid_credentials", "forbidden"],
    resolve: ({ params }) => requireProvider(oauth, params.provider),
    async handle({ query, headers, address }, provider: OAuthProvider) {
      const answer = await oauth.accept({
        provider,
        state: query.state,
        browserSecret: browserSecretOf(headers, isSecure(publicUrl)),
        query: new URLSearchParams(Object.entries(query)),
        address,
      });
      if (answer.redirect === undefined) return signedIn(await answer.complete());
      return returnTo(answer.redirect, answer.complete());
    },
  });
}

function signedIn(result: LoginResult): Reply {
  return { status: 200, headers: NO_STORE, body: presentLogin(result) };
}

/**
 * Returns to the page with the outcome in the fragment, which browsers do not send, so it reaches
 * no log.
 */
async function returnTo(page: string, work: Promise<LoginResult>): Promise<Reply> {
  const outcome = await work.then(
    ({ token }) => ({ token }),
    (error: unknown) => ({ error: toAppError(error).code }),
  );
  const location = `${page}#${new URLSearchParams(outcome)}`;
  return { status: 302, headers: { ...NO_STORE, location } };
}

/**
 * The cookie's name. Browsers accept a `__Host-` cookie only over HTTPS and send it to this host
 * only.
 */
function cookieName(secure: boolean): string {
  return secure ? "__Host-voice-oauth" : "voice-oauth";
}

/** The `Set-Cookie` that binds a sign-in at a provider to this browser. */
function browserCookie(secret: string, secure: boolean): string {
  const flags = `Path=/; Max-Age=${OAUTH_LIFETIME / 1000}; HttpOnly; SameSite=Lax`;
  return `${cookieName(secure)}=${secret}; ${flags}${secure ? "; Secure" : ""}`;
}

/** The secret in the request's cookie. */
function browserSecretOf(
  headers: Readonly<Record<string, string>>,
  secure: boolean,
): string | undefined {
  const start = `${cookieName(secure)}=`;
  const pairs = (headers.cookie ?? "").split(";").map((pair) => pair.trim());
  return pairs.find((pair) => pair.startsWith(start))?.slice(start.length);
}
