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

/** The person who signed in, as the provider describes them. */
export interface OAuthProfile {
  /** The provider's unchanging id of the person. */
  subject: string;
  email: string | undefined;
  /** The provider vouches that the address is the person's. */
  emailVerified: boolean;
  name: string;
}

/** Secrets that bind a provider's answer to our request. */
export interface OAuthSecrets {
  state: string;
  nonce: string;
  codeVerifier: string;
}

/** Port: one identity provider that people can sign in with. */
export interface OAuthProvider {
  /** The provider's id in paths. */
  readonly id: string;
  readonly name: string;
  /** Whether people without an account get one. */
  readonly createUsers: boolean;
  /**
   * The address to send the browser to. Rejects with `unavailable` when the provider cannot be
   * reached.
   */
  authorizationUrl(redirectUri: string, secrets: OAuthSecrets): Promise<URL>;
  /**
   * Exchanges the code of an answer. Rejects with `invalid_credentials` when the provider refused
   * or its answer is not valid, with `unavailable` when it cannot be reached.
   *
   * @param answer the address that the provider sent the browser to, with its query
   */
  exchange(answer: URL, secrets: OAuthSecrets): Promise<OAuthProfile>;
}

/** Time limit of one request to a provider, seconds. */
const PROVIDER_TIMEOUT = 8;

/** Parameters of the authorisation request that all kinds of providers share. */
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

/** Allows plain HTTP only to a provider on this machine. */
function allowLoopback(issuer: string): ((config: Configuration) => void)[] {
  return isLoopback(new URL(issuer)) ? [allowInsecureRequests] : [];
}

type Tokens = Awaited<ReturnType<typeof authorizationCodeGrant>>;

/** Maps a failure at the provider to an `AppError`; the provider's message stays in the cause. */
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
  // The platform reports a failed connection or a timeout only by these names and messages.
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

/** How long a provider's discovery document is cached. */
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
    // A failed discovery is not cached.
    configuration.catch(() => {
      if (this.#found === found) this.#found = undefined;
    });
    return configuration;
  }
}

/** The ID token's claims; without an address there, those of the user-info endpoint are added. */
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
 * Whether the provider vouches for the address. Microsoft says with `xms_edov` that the owner of
 * the address's domain was verified; without it anybody may have put that address into their
 * directory.
 */
function isVerified({ email_verified: verified, xms_edov: domainVerified }: Claims): boolean {
  return (
    [true, "true"].includes(verified as never) || [true, 1, "1"].includes(domainVerified as never)
  );
}

const MAX_ANSWER = 256 * 1024;

/**
 * GitHub, or a GitHub Enterprise server given as the issuer. It speaks OAuth 2 without OpenID
 * Connect, so its API is asked who signed in.
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

/** The primary address of the list, and whether GitHub has verified it. */
function primaryEmail(list: unknown): { email: string; verified: boolean } | undefined {
  if (!Array.isArray(list)) return undefined;
  const found: unknown = list.find((each: { primary?: unknown }) => each?.primary === true);
  const { email, verified } = (found ?? {}) as { email?: unknown; verified?: unknown };
  return typeof email === "string" ? { email, verified: verified === true } : undefined;
}
