import {
  AuthorizationResponseError,
  allowInsecureRequests,
  authorizationCodeGrant,
  buildAuthorizationUrl,
  Configuration,
  calculatePKCECodeChallenge,
  discovery,
  fetchProtectedResource,
  fetchUserInfo,
  ResponseBodyError,
} from "openid-client";
import { AppError } from "../../base/errors.ts";
import { isLoopback, type OAuthProviderSettings } from "./oauth-settings.ts";

/** Who a provider says has signed in. */
export interface OAuthProfile {
  /** The provider's own, unchanging id of the person. */
  subject: string;
  email: string | undefined;
  /** The provider vouches that the address is the person's. */
  emailVerified: boolean;
  name: string;
}

/** What binds an answer of the provider to the request that we made. */
export interface OAuthSecrets {
  state: string;
  nonce: string;
  codeVerifier: string;
}

/** Port: one identity provider that people can sign in with. */
export interface OAuthProvider {
  /** As it stands in paths. */
  readonly id: string;
  readonly name: string;
  /** People whom nobody knows yet get an account. */
  readonly createUsers: boolean;
  /** Where to send the browser. Rejects with `unavailable` when the provider cannot be reached. */
  authorizationUrl(redirectUri: string, secrets: OAuthSecrets): Promise<URL>;
  /**
   * Exchanges the code of an answer. Rejects with `invalid_credentials` when the
   * provider refused or its answer does not hold, with `unavailable` when it
   * cannot be reached.
   *
   * @param answer the address that the provider sent the browser to, with its query
   */
  exchange(answer: URL, secrets: OAuthSecrets): Promise<OAuthProfile>;
}

/** Seconds for one request to a provider. */
const PROVIDER_TIMEOUT = 8;

/** What is asked for, on top of what the provider's kind needs. */
async function authorizationParameters(
  redirectUri: string,
  scope: string,
  { state, codeVerifier }: OAuthSecrets,
): Promise<Record<string, string>> {
  return {
    redirect_uri: redirectUri,
    scope,
    state,
    code_challenge: await calculatePKCECodeChallenge(codeVerifier),
    code_challenge_method: "S256",
  };
}

/** Lets plain HTTP through to a provider on this machine, and only there. */
function allowLoopback(issuer: string): ((config: Configuration) => void)[] {
  return isLoopback(new URL(issuer)) ? [allowInsecureRequests] : [];
}

type Tokens = Awaited<ReturnType<typeof authorizationCodeGrant>>;

/** A failure at the provider in our words; what it said stays in the cause. */
function toProviderError(error: unknown, name: string): AppError {
  if (error instanceof AppError) return error;
  if (isOutage(error)) {
    return new AppError("unavailable", `${name} cannot be reached just now. Please try again.`, {
      cause: error,
      retryAfter: 5,
    });
  }
  return new AppError("invalid_credentials", `${name} did not sign you in.`, { cause: error });
}

function isOutage(error: unknown): boolean {
  if (error instanceof ResponseBodyError) return error.status >= 500;
  if (error instanceof AuthorizationResponseError) {
    return ["server_error", "temporarily_unavailable"].includes(error.error);
  }
  // The platform's own words for a connection that failed or took too long.
  for (let at = error, depth = 0; at instanceof Error && depth < 5; at = at.cause, depth += 1) {
    if (at.name === "TimeoutError" || at.message === "fetch failed") return true;
    if (
      "code" in at &&
      (at.code === "OAUTH_TIMEOUT" || /^(ECONN|ENOTFOUND|EAI_)/.test(String(at.code)))
    ) {
      return true;
    }
  }
  return false;
}

/** How long what a provider says of itself is believed. */
const DISCOVERY_MS = 3_600_000;

type Claims = Readonly<Record<string, unknown>>;

/** A provider that speaks OpenID Connect. */
export class OidcProvider implements OAuthProvider {
  readonly #settings: OAuthProviderSettings;
  #found: { configuration: Promise<Configuration>; at: number } | undefined;

  constructor(settings: OAuthProviderSettings) {
    this.#settings = settings;
  }

  get id(): string {
    return this.#settings.id;
  }

  get name(): string {
    return this.#settings.name;
  }

  get createUsers(): boolean {
    return this.#settings.createUsers;
  }

  async authorizationUrl(redirectUri: string, secrets: OAuthSecrets): Promise<URL> {
    try {
      const parameters = await authorizationParameters(
        redirectUri,
        "openid email profile",
        secrets,
      );
      const configuration = await this.#configuration();
      return buildAuthorizationUrl(configuration, { ...parameters, nonce: secrets.nonce });
    } catch (error) {
      throw toProviderError(error, this.name);
    }
  }

  async exchange(answer: URL, { state, nonce, codeVerifier }: OAuthSecrets): Promise<OAuthProfile> {
    try {
      const configuration = await this.#configuration();
      const tokens = await authorizationCodeGrant(configuration, answer, {
        expectedState: state,
        expectedNonce: nonce,
        pkceCodeVerifier: codeVerifier,
        idTokenExpected: true,
      });
      return toProfile(await completeClaims(configuration, tokens));
    } catch (error) {
      throw toProviderError(error, this.name);
    }
  }

  #configuration(): Promise<Configuration> {
    const now = performance.now();
    if (this.#found !== undefined && now - this.#found.at < DISCOVERY_MS) {
      return this.#found.configuration;
    }
    const { issuer, clientId, clientSecret } = this.#settings;
    const configuration = discovery(new URL(issuer), clientId, clientSecret, undefined, {
      execute: allowLoopback(issuer),
      timeout: PROVIDER_TIMEOUT,
    });
    const found = { configuration, at: now };
    this.#found = found;
    // What failed is asked again.
    configuration.catch(() => {
      if (this.#found === found) this.#found = undefined;
    });
    return configuration;
  }
}

/** What the ID token says, and where it is silent about the address, the user-info endpoint. */
async function completeClaims(configuration: Configuration, tokens: Tokens): Promise<Claims> {
  const claims = tokens.claims();
  if (claims === undefined) throw new Error("there is no ID token");
  const asks = configuration.serverMetadata().userinfo_endpoint !== undefined;
  if (claims.email !== undefined || !asks) return claims;
  return { ...claims, ...(await fetchUserInfo(configuration, tokens.access_token, claims.sub)) };
}

function toProfile(claims: Claims): OAuthProfile {
  const { sub, email, name } = claims;
  return {
    subject: String(sub),
    email: typeof email === "string" ? email : undefined,
    emailVerified: isVerified(claims),
    name: typeof name === "string" ? name : "",
  };
}

/**
 * Microsoft says with `xms_edov` that the owner of an address's domain was
 * verified; without it anybody may have put that address into their directory.
 */
function isVerified({ email_verified: verified, xms_edov: domainVerified }: Claims): boolean {
  return (
    [true, "true"].includes(verified as never) || [true, 1, "1"].includes(domainVerified as never)
  );
}

const MAX_ANSWER = 256 * 1024;

/**
 * GitHub, or a GitHub Enterprise server given as the issuer: OAuth 2 without
 * OpenID Connect, so its API is asked who signed in.
 */
export class GithubProvider implements OAuthProvider {
  readonly #settings: OAuthProviderSettings;
  readonly #configuration: Configuration;
  readonly #api: string;

  constructor(settings: OAuthProviderSettings) {
    this.#settings = settings;
    const issuer = settings.issuer.replace(/\/+$/, "");
    this.#api = issuer === "https://github.com" ? "https://api.github.com" : `${issuer}/api/v3`;
    const server = {
      issuer,
      authorization_endpoint: `${issuer}/login/oauth/authorize`,
      token_endpoint: `${issuer}/login/oauth/access_token`,
    };
    this.#configuration = new Configuration(server, settings.clientId, settings.clientSecret);
    this.#configuration.timeout = PROVIDER_TIMEOUT;
    for (const allow of allowLoopback(issuer)) allow(this.#configuration);
  }

  get id(): string {
    return this.#settings.id;
  }

  get name(): string {
    return this.#settings.name;
  }

  get createUsers(): boolean {
    return this.#settings.createUsers;
  }

  async authorizationUrl(redirectUri: string, secrets: OAuthSecrets): Promise<URL> {
    const scope = "read:user user:email";
    const parameters = await authorizationParameters(redirectUri, scope, secrets);
    return buildAuthorizationUrl(this.#configuration, parameters);
  }

  async exchange(answer: URL, { state, codeVerifier }: OAuthSecrets): Promise<OAuthProfile> {
    try {
      const { access_token: token } = await authorizationCodeGrant(this.#configuration, answer, {
        expectedState: state,
        pkceCodeVerifier: codeVerifier,
      });
      const user = (await this.#get(token, "/user")) as Record<string, unknown>;
      const emails = await this.#get(token, "/user/emails");
      if (!Number.isSafeInteger(user.id)) throw new Error("the user has no id");
      const email = primaryEmail(emails);
      return {
        subject: String(user.id),
        email: email?.email,
        emailVerified: email?.verified === true,
        name: typeof user.name === "string" ? user.name : "",
      };
    } catch (error) {
      throw toProviderError(error, this.name);
    }
  }

  async #get(token: string, path: string): Promise<unknown> {
    const url = new URL(this.#api + path);
    const headers = new Headers({ accept: "application/vnd.github+json" });
    const response = await fetchProtectedResource(
      this.#configuration,
      token,
      url,
      "GET",
      undefined,
      headers,
    );
    const text = await response.text();
    if (!response.ok || text.length > MAX_ANSWER) {
      throw new Error(`${path} answered ${response.status}`);
    }
    return JSON.parse(text);
  }
}

/** Only the primary address is the person's name here; GitHub says whether it was verified. */
function primaryEmail(list: unknown): { email: string; verified: boolean } | undefined {
  if (!Array.isArray(list)) return undefined;
  const found: unknown = list.find((each: { primary?: unknown }) => each?.primary === true);
  const { email, verified } = (found ?? {}) as { email?: unknown; verified?: unknown };
  return typeof email === "string" ? { email, verified: verified === true } : undefined;
}
